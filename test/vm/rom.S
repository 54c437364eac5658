/*
 * The reset ROM of the emulated machine: 64 KiB at 0xf0000 in place of a BIOS.
 * It goes from real mode to long mode and jumps to the 64-bit entry of the
 * Linux kernel, with %rsi = boot_params. vm.sh has put the image (boot_params,
 * command line, page tables, kernel, initramfs) into memory at IMG already.
 */
    .set IMG, 0x00fc0000
    .set LOW, 0x000f0000
    .code16
start:
    cli
    movb $0x35, %al             /* CMOS: memory above 16 MiB, in 64 KiB units */
    outb %al, $0x70
    inb $0x71, %al
    movb %al, %ah
    movb $0x34, %al
    outb %al, $0x70
    inb $0x71, %al
    movzwl %ax, %ebx
    shll $16, %ebx
    addl $0x1000000, %ebx       /* end of memory */
    lgdtl %cs:gdt_pointer - start
    movl %cr0, %eax
    orb $1, %al
    movl %eax, %cr0
    ljmpl $0x10, $LOW + protected - start

    .code32
protected:
    movl $0x18, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    /* Bochs reads the image into host memory in one piece, but hands out its
     * 128 KiB guest blocks in the order of their first use: use them in order
     * from the image up, or the image is scattered. */
    movl $IMG, %esi
1:  movb (%esi), %al
    addl $0x20000, %esi
    cmpl %ebx, %esi
    jb 1b

    movl $IMG + 0x5007, IMG + 0x4000    /* identity map: 1 GiB, 2 MiB pages */
    movl $IMG + 0x6007, IMG + 0x5000
    movl $IMG + 0x6000, %edi
    movl $0x87, %eax
2:  movl %eax, (%edi)
    addl $8, %edi
    addl $0x200000, %eax
    cmpl $0x40000087, %eax
    jb 2b
    movl %cr4, %eax             /* PAE, the tables, long mode, paging */
    orl $0x20, %eax
    movl %eax, %cr4
    movl $IMG + 0x4000, %eax
    movl %eax, %cr3
    movl $0xc0000080, %ecx
    rdmsr
    orl $0x100, %eax
    wrmsr
    movl %cr0, %eax
    orl $0x80000001, %eax
    movl %eax, %cr0
    ljmpl $0x20, $LOW + long_mode - start

    .code64
long_mode:
    movl $IMG, %esi
    movl $0x1000000, %eax
    jmp *%rax

    .balign 8
gdt:
    .quad 0, 0
    .quad 0x00cf9a000000ffff    /* 0x10: 32-bit code */
    .quad 0x00cf92000000ffff    /* 0x18: data */
    .quad 0x00af9a000000ffff    /* 0x20: 64-bit code */
gdt_pointer:
    .word 0x27
    .long LOW + gdt - start

    .org 0xfff0                 /* the processor starts here */
    .code16
    .byte 0xe9                  /* jmp start */
    .word 0x10000 - 0xfff3
    .org 0x10000

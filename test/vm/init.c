/*
 * The first process of the emulated machine: runs the command in /.vm/args (in
 * /payload) and sends its output and exit code to the host. There is no disk
 * and no network: stdout leaves through the first parallel port, stderr
 * through the second, byte for byte, and the exit code through Bochs' debug
 * port.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT_STDOUT 0x378
#define PORT_STDERR 0x278
#define PORT_DEBUG 0xe9   /* each byte appears on Bochs' own stdout */
#define PORT_POWER 0x8900 /* the word "Shutdown" ends the emulation */
#define MAX_ARGS 1000

static void to_host(unsigned short port, const void *data, size_t len)
{
    const unsigned char *p = data;

    while (len--) {
        outb(*p++, port);
        outb(0x0d, port + 2); /* select and strobe: the byte is taken */
        outb(0x0c, port + 2);
    }
}

static void power_off(int code)
{
    char line[32];
    const char *p = line;

    snprintf(line, sizeof(line), "\n@@EXIT %d\n", code);
    while (*p)
        outb((unsigned char)*p++, PORT_DEBUG);
    for (p = "Shutdown"; *p; p++)
        outb((unsigned char)*p, PORT_POWER);
    for (;;)
        pause();
}

static void die(const char *what)
{
    char line[200];
    int n = snprintf(line, sizeof(line), "vm init: %s: %s\n", what,
                     strerror(errno));

    to_host(PORT_STDERR, line, (size_t)n);
    power_off(125);
}

static char *argv[MAX_ARGS + 1];

static void read_args(void)
{
    static char args[65536];
    int fd = open("/.vm/args", O_RDONLY), n = 0;
    ssize_t len, at;

    if (fd < 0 || (len = read(fd, args, sizeof(args) - 1)) <= 0)
        die("/.vm/args");
    close(fd);
    for (at = 0; at < len && n < MAX_ARGS; at += (ssize_t)strlen(args + at) + 1)
        argv[n++] = args + at;
}

static void run_command(int out, int err)
{
    int null = open("/dev/null", O_RDONLY);

    iopl(0);
    setsid();
    dup2(null, 0);
    dup2(out, 1);
    dup2(err, 2);
    clearenv();
    setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", 1);
    setenv("HOME", "/root", 1);
    /* Bochs 2.7 gets XSAVEC wrong, with which ld.so saves the vector registers
     * while it binds a symbol at its first call: bind all at the start. */
    setenv("LD_BIND_NOW", "1", 1);
    setenv("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-XSAVEC", 1);
    execvp(argv[0], argv);
    dprintf(2, "vm init: %s: %s\n", argv[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

int main(void)
{
    static unsigned char buf[65536];
    struct pollfd from[2] = {{.events = POLLIN}, {.events = POLLIN}};
    int out[2], err[2], status = 0, ended = 0, i;
    pid_t pid;

    if (iopl(3))
        return 1;
    outb(0x08, PORT_STDOUT + 2); /* reset both "printers" */
    outb(0x0c, PORT_STDOUT + 2);
    outb(0x08, PORT_STDERR + 2);
    outb(0x0c, PORT_STDERR + 2);
    if (mount("dev", "/dev", "devtmpfs", 0, "mode=0755"))
        die("/dev");
    if (mount("proc", "/proc", "proc", 0, NULL))
        die("/proc");
    if (symlink("/proc/self/fd", "/dev/fd"))
        die("/dev/fd");
    read_args();
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
        die("pipe");
    if (chdir("/payload"))
        die("/payload");
    pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        run_command(out[1], err[1]);
    close(out[1]);
    close(err[1]);
    from[0].fd = out[0];
    from[1].fd = err[0];
    while (from[0].fd >= 0 || from[1].fd >= 0) {
        int ready = poll(from, 2, ended ? 0 : 200), st;
        pid_t who;

        if (ended && ready <= 0)
            break; /* a child that was left behind holds the pipes */
        for (i = 0; i < 2; i++) {
            ssize_t n;

            if (from[i].fd < 0 || !from[i].revents)
                continue;
            n = read(from[i].fd, buf, sizeof(buf));
            if (n > 0)
                to_host(i ? PORT_STDERR : PORT_STDOUT, buf, (size_t)n);
            else
                from[i].fd = -1;
        }
        while ((who = waitpid(-1, &st, WNOHANG)) > 0) {
            if (who == pid) {
                status = st;
                ended = 1;
            }
        }
    }
    if (!ended)
        waitpid(pid, &status, 0);
    power_off(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

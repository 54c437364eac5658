/*
 * Poly1305 with the blocks in the lanes of a vector, written once for the
 * kinds of limbs in limbs26.h and limbs44.h.
 *
 * The sum over n blocks m is m[0] r^n + m[1] r^(n-1) + .. + m[n-1] r. L lanes
 * hold L interleaved sums, each of which steps by r^L: h = h r^L + m. At the
 * end lane j still lacks r^(L-j), and one more multiplication gives it that.
 * Four steps in one,
 *
 *     h = h r^4L + m r^3L + m' r^2L + m'' r^L + m''',
 *
 * take one carry instead of four, and their products need not wait for each
 * other.
 *
 * The including file defines what a call must have in blocks to be better off
 * here than in the portable level, which also does what is left over:
 *   FROM_NEW    when the powers have still to be made
 *   FROM_READY  when they are there
 *   FROM_STEPS  for the powers of the four steps to pay
 */

/* p->powers */
struct powers {
    uint64_t lane[LIMBS][LANES];     /* limbs of r^L .. r, a lane each */
    uint64_t step[4][2 * LIMBS - 1]; /* r^L, r^2L, r^3L, r^4L: mul_add() */
    uint64_t sum[LIMBS][LANES];      /* when in_lanes */
};
_Static_assert(sizeof(struct powers) <=
                   sizeof(((struct bc_poly1305 *)0)->powers),
               "powers do not fit");

static void make_powers(struct bc_poly1305 *p, uint32_t n)
{
    struct powers *w = (struct powers *)(void *)p->powers;
    struct limbs lane, every, upper, r2, r3, r4;
    int i;

    if (p->npowers >= n)
        return;
    if (p->npowers == 0) {
        /* With i = 1, 2, 4 ..: the lanes of `lane` hold r .. r^i in turn, and
         * every one of `every` holds r^i, the highest of them. It stands in
         * lane 0: taking it from there costs less than a product. */
        every = every_lane(p->r);
        lane = every;
        UNROLL for (i = 1; i < LANES; i *= 2)
        {
            upper = multiply(&lane, &every);
            lane = pick(&lane, &upper, i);
            every = i == 1 ? upper : lane0_everywhere(&lane);
        }
        store_lanes(w->lane, &lane);
        store_step(w->step[0], &lane);
        p->npowers = LANES;
    } else {
        every = load_step(w->step[0]);
    }
    if (n > p->npowers) {
        r2 = multiply(&every, &every);
        r3 = multiply(&r2, &every);
        r4 = multiply(&r2, &r2);
        store_step(w->step[1], &r2);
        store_step(w->step[2], &r3);
        store_step(w->step[3], &r4);
        p->npowers = 4 * LANES;
    }
}

/* nblocks: L, 2 L, 3 L .. Leaves the sum in the lanes. */
static void wide(struct bc_poly1305 *p, const uint8_t *in, size_t nblocks)
{
    struct powers *w = (struct powers *)(void *)p->powers;
    struct limbs h, m;
    struct sum s;
    size_t steps, i;

    if (p->in_lanes) {
        h = load_lanes(w->sum);
    } else { /* the first step has no product: the lanes were empty */
        h = load_blocks(in);
        add_to_lane0(&h, p->h);
        in += 16 * LANES;
        nblocks -= LANES;
    }
    if (p->npowers == 4 * LANES) {
        steps = nblocks / LANES % 4;
        if (steps) {
            m = load_blocks(in + (steps - 1) * 16 * LANES);
            s = sum_of(&m);
            for (i = 1; i < steps; i++) {
                m = load_blocks(in + (steps - 1 - i) * 16 * LANES);
                mul_add_step(&s, &m, w->step[i - 1]);
            }
            mul_add_step(&s, &h, w->step[steps - 1]);
            h = carry(&s);
            in += steps * 16 * LANES;
            nblocks -= steps * LANES;
        }
        for (; nblocks; nblocks -= 4 * LANES) {
            /* Pretends that the powers may have moved, or else compilers load
             * them all before the loop, far more than there are registers. */
            __asm__("" : "+r"(w));
            m = load_blocks(in + 3 * 16 * LANES);
            s = sum_of(&m);
            m = load_blocks(in + 2 * 16 * LANES);
            mul_add_step(&s, &m, w->step[0]);
            m = load_blocks(in + 16 * LANES);
            mul_add_step(&s, &m, w->step[1]);
            m = load_blocks(in);
            mul_add_step(&s, &m, w->step[2]);
            mul_add_step(&s, &h, w->step[3]);
            h = carry(&s);
            in += 4 * 16 * LANES;
        }
    } else {
        for (; nblocks; nblocks -= LANES) {
            m = load_blocks(in);
            s = sum_of(&m);
            mul_add_step(&s, &h, w->step[0]);
            h = carry(&s);
            in += 16 * LANES;
        }
    }
    store_lanes(w->sum, &h);
    p->in_lanes = 1;
}

static void settle(struct bc_poly1305 *p)
{
    struct powers *w = (struct powers *)(void *)p->powers;
    struct limbs h = load_lanes(w->sum), lane = load_lanes(w->lane);
    struct sum s = products(&h, &lane);

    add_lanes(p->h, &s);
    p->in_lanes = 0;
}

static void blocks(struct bc_poly1305 *p, const uint8_t *in, size_t nblocks,
                   uint32_t hibit)
{
    size_t n;

    if (nblocks >= FROM_READY && (p->npowers || p->len >= 16 * FROM_NEW)) {
        make_powers(p, nblocks >= FROM_STEPS || p->len >= 64 * FROM_STEPS
                           ? 4 * LANES
                           : LANES);
        n = nblocks % LANES;
        if (n && !p->in_lanes) {
            bc_poly1305_ops_c.blocks(p, in, n, 1);
            in += 16 * n;
            nblocks -= n;
        }
        n = nblocks & ~(size_t)(LANES - 1);
        wide(p, in, n);
        in += 16 * n;
        nblocks -= n;
    }
    if (nblocks) {
        if (p->in_lanes)
            settle(p);
        bc_poly1305_ops_c.blocks(p, in, nblocks, hibit);
    }
}

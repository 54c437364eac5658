# evp.csv -> a picture: how many times faster than the default provider, per
# algorithm and message length. Plain SVG, no fonts or scripts of its own.
#
#   awk -f svg.awk evp.csv >ratios.svg

function text(x, y, size, anchor, colour, words)
{
    gsub(/&/, "\\&amp;", words)
    gsub(/</, "\\&lt;", words)
    printf "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%s\" text-anchor=\"%s\" " \
        "fill=\"%s\">%s</text>\n", x, y, size, anchor, colour, words
}

function bar(x, base, width, value, colour,    h)
{
    h = value * unit
    printf "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" " \
        "fill=\"%s\"/>\n", x, base - h, width, h, colour
    text(x + width / 2, base - h - 2, 7.5, "middle", "#555",
         sprintf("%.1f", value))
}

function size_name(bytes)
{
    if (bytes >= 1000000)
        return bytes % 1000000 == 0 ? bytes / 1000000 "M" : "1M"
    return bytes >= 4096 ? bytes / 1024 "K" : bytes
}

# Lines at whole ratios; the one at 1 is the default provider.
function grid(x, base, width,    i)
{
    for (i = 0; i <= top; i++) {
        printf "<path d=\"M%.1f %.1fh%.1f\" stroke=\"%s\" " \
            "stroke-width=\"%s\"/>\n", x, base - i * unit, width,
            i == 1 ? "#c05621" : "#e2e8f0", i == 1 ? 1.2 : 0.7
        if (top <= 8 || i % 2 == 1)
            text(x - 4, base - i * unit + 3, 8, "end",
                 i == 1 ? "#c05621" : "#999", i)
    }
}

function panel(x, base, width, algorithm,    i, step, at, e, d)
{
    grid(x, base, width)
    text(x, base - top * unit - 14, 12, "start", "#1a202c", algorithm)
    text(x + width, base - top * unit - 14, 9, "end", "#555",
         peak[algorithm] "at 16 KiB")
    step = width / sizes[algorithm]
    for (i = 1; i <= sizes[algorithm]; i++) {
        at = x + (i - 1) * step
        e = ratio[algorithm, encrypt[algorithm], size[algorithm, i]]
        d = ratio[algorithm, "decrypt", size[algorithm, i]]
        if (d) {
            bar(at + step * 0.08, base, step * 0.42, e, dark)
            bar(at + step * 0.52, base, step * 0.42, d, light)
        } else {
            bar(at + step * 0.2, base, step * 0.6, e, dark)
        }
        text(at + step / 2, base + 11, 8, "middle", "#555",
             size_name(size[algorithm, i]))
    }
}

function hot_panel(x, base, width,    i, j, step, at, w)
{
    grid(x, base, width)
    text(x, base - top * unit - 14, 12, "start", "#1a202c",
         "Re-keying a context (encryption)")
    step = width / shown
    for (i = 1; i <= shown; i++) {
        at = x + (i - 1) * step
        text(at + step / 2, base + 11, 8, "middle", "#555", show[i])
        w = step * 0.26
        for (j = 1; j <= 3; j++)
            if (hot[show[i], j])
                bar(at + step * 0.1 + (j - 1) * w, base, w * 0.92,
                    hot[show[i], j], shade[j])
    }
}

BEGIN {
    FS = ","
    dark = "#2b6cb0"
    light = "#90cdf4"
    shade[1] = "#276749"
    shade[2] = "#48a868"
    shade[3] = "#9ae6b4"
    kind["key + nonce"] = kind["key"] = 1
    kind["key + nonce + 16 B"] = kind["key + 16 B"] = 2
    kind["cipher + key + nonce + 16 B"] = 3
    shown = split("AES-128-GCM AES-256-GCM ChaCha20-Poly1305 AES-128-CBC " \
                  "AES-256-CBC POLY1305", show, " ")
    top = 2
}

/^# / {
    name = $0
    sub(/^# /, "", name)
    sub(/:.*/, "", name)
    value = $0
    sub(/^# [^:]*: /, "", value)
    head[name] = value
    next
}

# The smaller of the two ratios: on a busy machine either may be too good.
{
    times = $12 + 0 < $13 + 0 ? $12 + 0 : $13 + 0
}

$1 == "message" && times > 0 {
    if ($3 != "decrypt") {
        size[$2, ++sizes[$2]] = $5
        encrypt[$2] = $3
    }
    ratio[$2, $3, $5] = times
    if ($5 == 16384)
        peak[$2] = peak[$2] sprintf("%.1f%s ", $14, \
                                    $3 == "encrypt" ? " /" : " GB/s")
}

$1 == "hot path" && $3 != "decrypt" && ($4 in kind) {
    hot[$2, kind[$4]] = times
}

times > top && ($1 == "message" || ($1 == "hot path" && ($4 in kind))) {
    top = int(times + 0.999)
}

END {
    width = 300
    height = 130
    unit = height / top
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1020 690\" " \
        "font-family=\"Helvetica,Arial,sans-serif\">\n" \
        "<rect width=\"1020\" height=\"690\" fill=\"#fff\"/>\n"
    text(24, 30, 17, "start", "#1a202c",
         "Times faster than OpenSSL's default provider, through EVP")
    text(24, 48, 10, "start", "#555", head["cpu"] ", " head["openssl"] \
         ", module by " head["compiler"] ", " head["date"])
    text(24, 62, 9, "start", "#777", head["module"])
    printf "<rect x=\"700\" y=\"20\" width=\"10\" height=\"10\" fill=\"%s\"/>" \
        "<rect x=\"775\" y=\"20\" width=\"10\" height=\"10\" fill=\"%s\"/>" \
        "<path d=\"M850 25h14\" stroke=\"#c05621\" stroke-width=\"1.2\"/>\n",
        dark, light
    text(714, 29, 10, "start", "#555", "encrypt")
    text(789, 29, 10, "start", "#555", "decrypt")
    text(868, 29, 10, "start", "#555", "default provider")
    for (i = 1; i <= shown; i++)
        panel(36 + (i - 1) % 3 * 332, 240 + int((i - 1) / 3) * 190, width,
              show[i])
    hot_panel(36, 640, 964)
    x = 560
    names[1] = "key + nonce"
    names[2] = "and 16 B and tag"
    names[3] = "the same, passing the cipher too"
    for (j = 1; j <= 3; j++) {
        printf "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" " \
            "fill=\"%s\"/>\n", x, 640 - height - 23, shade[j]
        text(x + 14, 640 - height - 14, 10, "start", "#555", names[j])
        x += 120
    }
    text(500, 672, 9, "middle", "#777",
         "bytes of a message: nonce, data and tag under one key; " \
         "many short windows in turn: their minima or their medians, " \
         "whichever ratio is smaller")
    print "</svg>"
}

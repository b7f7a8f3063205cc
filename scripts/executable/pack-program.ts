import { isAscii } from 'node:buffer'
import { constants, zstdCompressSync } from 'node:zlib'

/**
 * The bundled program as the executable has it. The executable reads it as Latin-1, which is the same text only
 * while it is ASCII (`bundle.ts` escapes the rest), and takes half the memory.
 */
export function packProgram(code: Buffer): Buffer {
  if (!isAscii(code)) throw new Error('the bundled program has a character beyond ASCII')
  return zstdCompressSync(code, { params: { [constants.ZSTD_c_compressionLevel]: 19 } })
}

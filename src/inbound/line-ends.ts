/**
 * Line ends of messages under way, across the pieces in which they arrive. Servers differ on whether a
 * lone CR or LF ends a line, and SMTP smuggling exploits the difference. Where a message ends is not
 * decided here: that is CRLF.CRLF alone (`data-reader.ts`).
 */
const CR = 0x0d
const LF = 0x0a

/** Returns a function that finds a lone CR or LF. */
export function createLineCheck(): (chunk: Buffer) => boolean {
  let wasCr = false
  return (chunk) => {
    for (let index = 0; index < chunk.length; index += 1) {
      const octet = chunk[index]
      if ((octet === LF) !== wasCr) return true
      wasCr = octet === CR
    }
    return false
  }
}

/** Returns a function that makes each lone LF a CRLF. A lone CR stays. */
export function createLineMender(): (chunk: Buffer) => Buffer {
  let wasCr = false
  return (chunk) => {
    const wasCrBefore = wasCr
    if (chunk.length > 0) wasCr = chunk.at(-1) === CR
    const pieces: Buffer[] = []
    let at = 0
    for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, lf + 1)) {
      if (lf === 0 ? wasCrBefore : chunk[lf - 1] === CR) continue
      pieces.push(chunk.subarray(at, lf), CRLF)
      at = lf + 1
    }
    return pieces.length === 0 ? chunk : Buffer.concat([...pieces, chunk.subarray(at)])
  }
}

const CRLF = Buffer.from('\r\n')

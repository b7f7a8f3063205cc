/**
 * A message on its way in: held in memory as it comes, as long as it may be kept. What turns out to
 * be refused is let go of at once and the rest of it only read past.
 *
 * All messages under way share one allowance, so that no number of clients fills the memory. The
 * memory for a message doubles, and from a megabyte on grows by a megabyte: the cost of a chunk does
 * not depend on its size. It grows by further blocks, so a large message is not copied when it grows.
 */
import { countHops } from '../mail/incoming/received-field.ts'
import { refusal, type SmtpRefusal } from './refusal.ts'

/** How much all messages under way may hold. `isSmall`: what is set aside for small ones counts. */
export type Allowance = {
  take(bytes: number, isSmall: boolean): boolean
  giveBack(bytes: number): void
}

export type MessageBufferOptions = { maxBytes: number; allowance: Allowance }

export type MessageBuffer = {
  write(chunk: Buffer): void
  /** The whole message, one part behind the other. @throws SmtpRefusal */
  finish(): readonly Buffer[]
  /** To be called in any case, when the message is needed no more. */
  release(): void
}

const FIRST_BYTES = 8 * 1024
const MAX_BLOCK_BYTES = 1024 * 1024
/** Reports are: whoever holds on to large messages does not keep them out. */
const SMALL_BYTES = 256 * 1024
const MAX_HEADER_BYTES = 256 * 1024
/** As Postfix's hopcount_limit. */
const MAX_HOPS = 50
const CR = 0x0d
const LF = 0x0a
const HEADER_END = '\r\n\r\n'

/** Of `bytes`, `reserve` for small messages only. */
export function createAllowance(bytes: number, reserve = 0): Allowance {
  let left = bytes
  return {
    take(wanted, isSmall) {
      if (wanted > left - (isSmall ? 0 : reserve)) return false
      left -= wanted
      return true
    },
    giveBack(given) {
      left += given
    },
  }
}

export function createMessageBuffer({ maxBytes, allowance }: MessageBufferOptions): MessageBuffer {
  const isBroken = createLineCheck()
  let blocks: Buffer[] = []
  let capacity = 0
  let size = 0
  let reason: SmtpRefusal | undefined

  /** False when there is no more room. */
  function put(chunk: Buffer): boolean {
    let rest = chunk
    while (rest.length > 0) {
      if (size === capacity && !addBlock(rest.length)) return false
      const block = blocks.at(-1) as Buffer
      const copied = rest.copy(block, block.length - (capacity - size))
      size += copied
      rest = rest.subarray(copied)
    }
    return true
  }

  function addBlock(wanted: number): boolean {
    const doubled = Math.max(FIRST_BYTES, Math.min(capacity, MAX_BLOCK_BYTES))
    const bytes = Math.min(Math.max(doubled, wanted), maxBytes - capacity)
    if (!allowance.take(bytes, capacity + bytes <= SMALL_BYTES)) return false
    capacity += bytes
    blocks.push(Buffer.allocUnsafeSlow(bytes))
    return true
  }

  function release(): void {
    allowance.giveBack(capacity)
    blocks = []
    capacity = 0
    size = 0
  }

  function refuse(code: string, text: string): void {
    reason = refusal(code, text)
    release()
  }

  return {
    write(chunk) {
      if (reason !== undefined) return
      if (size + chunk.length > maxBytes) return refuse('552 5.3.4', `More than ${maxBytes} bytes`)
      if (isBroken(chunk)) return refuse('554 5.6.0', 'Lines must end in CRLF (RFC 5321 2.3.8)')
      if (!put(chunk)) refuse('452 4.3.1', 'Too much mail at the moment, try again later')
    },
    finish() {
      if (reason !== undefined) throw reason
      const unused = capacity - size
      const parts = blocks.map((block, index) =>
        index === blocks.length - 1 ? block.subarray(0, block.length - unused) : block,
      )
      checkHeader(parts, size)
      return parts
    },
    release,
  }
}

/**
 * Whether a CR or LF stands alone, in this chunk or at the end of the last: what one server takes
 * for an end of line and the next does not is how mail is smuggled.
 */
function createLineCheck(): (chunk: Buffer) => boolean {
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

/** @throws SmtpRefusal for a header section that is too large, and for a loop */
function checkHeader(parts: readonly Buffer[], size: number): void {
  const longest = MAX_HEADER_BYTES + HEADER_END.length
  const beginning = Buffer.concat(parts, Math.min(size, longest))
  const end = beginning.indexOf(HEADER_END)
  if ((end === -1 ? size : end) > MAX_HEADER_BYTES) {
    throw refusal('552 5.3.4', `More than ${MAX_HEADER_BYTES} bytes of header`)
  }
  const header = beginning.toString('latin1', 0, end === -1 ? size : end)
  if (countHops(header) > MAX_HOPS) {
    throw refusal('554 5.4.6', `More than ${MAX_HOPS} servers have seen this: a loop`)
  }
}

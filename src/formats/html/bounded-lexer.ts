/**
 * The lexer of `marked`, with a limit to its processor time. Each rule may look at all that is left of its
 * text, so hostile texts take time by the square of their length, or by their depth. What exceeds the limit
 * is refused. Ordinary Markdown of 250 KB stays far below the limit, with or without blank lines. Quotes that
 * go on in short lines without their sign (`> a`, then `b`) take time by the square as well: 250 KB of nothing
 * else come near it.
 *
 * The clock is read after a number of steps. A step is a character that a rule may look at: most rules look
 * at few of them, so steps tell when to read the clock, and not what a text costs.
 */
import {
  Lexer,
  type MarkedOptions,
  type Token,
  type TokenizerObject,
  type TokensList,
} from 'marked'

export const MAX_CPU_MS = 2_000

const STEPS_PER_READING = 1_000_000
/** Of a rule, however short its text is. */
const LEAST_STEPS = 100

/** A link without brackets; the library shortens it from its end in steps that each read all of it. */
const MAX_BARE_LINK = 4_096

const BARE_LINK = new RegExp(`^[^\\s<]{0,${MAX_BARE_LINK}}`)

export class TooMuchTimeError extends Error {}

export class BoundedLexer extends Lexer {
  readonly #began = process.threadCpuUsage()
  readonly #maxCpuMs: number
  #steps = 0

  constructor(options: MarkedOptions, maxCpuMs: number) {
    super(options)
    this.#maxCpuMs = maxCpuMs
  }

  /** @throws TooMuchTimeError */
  spend(steps: number): void {
    this.#steps += LEAST_STEPS + steps
    if (this.#steps >= STEPS_PER_READING) this.#check()
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList
  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[] {
    // The rule of quotes reads all that is left between two calls.
    this.#check()
    return super.blockTokens(source, tokens, isClipped)
  }

  override inlineTokens(source: string, tokens?: Token[]): Token[] {
    this.spend(source.length)
    return super.inlineTokens(source, tokens)
  }

  #check(): void {
    this.#steps = 0
    const { user, system } = process.threadCpuUsage(this.#began)
    if (user + system > this.#maxCpuMs * 1_000) throw new TooMuchTimeError()
  }
}

/** The first rules of every block and of every part of a line: they count, and leave the work to the library. */
export const COUNTING_RULES: TokenizerObject = {
  space(source) {
    spend(this.lexer, source.length)
    return false
  },
  escape(source) {
    spend(this.lexer, source.length)
    return false
  },
  url: (source) => (BARE_LINK.exec(source)?.[0].length === MAX_BARE_LINK ? undefined : false),
}

function spend(lexer: unknown, steps: number): void {
  if (lexer instanceof BoundedLexer) lexer.spend(steps)
}

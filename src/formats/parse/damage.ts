/**
 * Collects sentences on the parts of a message that were lost, guessed or mended, for the record of
 * the email. A sentence is kept once, and a hostile message cannot make the list long.
 */

/** The maximum number of sentences for one message; a last sentence says that there are more. */
const MAX_DAMAGE_WARNINGS = 20
const MAX_WARNING_LENGTH = 300

export class Damage {
  readonly #sentences = new Set<string>()
  #isFull = false

  add(sentence: string): void {
    if (this.#sentences.has(sentence)) return
    if (this.#sentences.size < MAX_DAMAGE_WARNINGS) {
      this.#sentences.add(sentence.slice(0, MAX_WARNING_LENGTH).toWellFormed())
    } else {
      this.#isFull = true
    }
  }

  /** Notes that `count` places in `part` did not fit `charset`. */
  addReplaced(part: string, { replaced, charset }: { replaced: number; charset: string }): void {
    if (replaced === 0) return
    const places = replaced === 1 ? '1 place was' : `${replaced} places were`
    this.add(`${part}: ${places} not valid ${charset} and became U+FFFD.`)
  }

  addGuessed(part: string, charset: string): void {
    this.add(`${part}: the charset is not declared, or wrong, and was guessed: ${charset}.`)
  }

  addCut(part: string, limit: number): void {
    this.add(`${part}: cut off at ${limit} characters.`)
  }

  list(): string[] {
    const sentences = [...this.#sentences]
    return this.#isFull ? [...sentences, 'There is more of the kind.'] : sentences
  }
}

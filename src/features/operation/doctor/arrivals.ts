/**
 * Notices whether a request that a check sends to `base_url` arrives at this very process. The request
 * carries a random word in the path of a hosted page; another server may answer it, but only this
 * one can note the word.
 */
import { randomBytes } from 'node:crypto'

export type Arrivals = {
  /**
   * Returns a new word, and a function that says whether a request with it has arrived. `end`
   * forgets the word.
   */
  expect(): { word: string; hasArrived(): boolean; end(): void }
  /** Notes a word. Call it with the token of a hosted page that is not valid. */
  note(token: string | undefined): void
}

const WORD_OCTETS = 20

export function createArrivals(): Arrivals {
  const expected = new Map<string, boolean>()
  return {
    expect() {
      // The word has letters and digits like a token, but another length than any token.
      const word = randomBytes(WORD_OCTETS)
        .toString('hex')
        .replace(/[01]/g, 'x')
        .replace(/[89]/g, 'y')
      expected.set(word, false)
      return {
        word,
        hasArrived: () => expected.get(word) === true,
        end: () => void expected.delete(word),
      }
    },
    note(token) {
      if (token !== undefined && expected.has(token)) expected.set(token, true)
    },
  }
}

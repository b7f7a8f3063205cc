/** The options of `npm run soak`. */
import { parseArgs } from 'node:util'

export type SoakOptions = {
  minutes: number
  /** The same seed gives the same plan. */
  seed: number
  /** A packaged executable; undefined: the built one, or the sources where nothing is built. */
  executable: string | undefined
  /** Keeps the folder of the run after a success, too. */
  isKept: boolean
}

const MAX_SEED = 0x7fff_ffff
const SHORTEST_MINUTES = 0.5

/** @throws Error with what was expected */
export function readOptions(argv: readonly string[]): SoakOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      minutes: { type: 'string', default: '2' },
      seed: { type: 'string' },
      executable: { type: 'string' },
      keep: { type: 'boolean', default: false },
    },
  })
  const minutes = Number(values.minutes)
  if (!(minutes >= SHORTEST_MINUTES)) {
    throw new Error(`--minutes must be a number of at least ${SHORTEST_MINUTES}`)
  }
  const seed = Number(values.seed ?? 1 + Math.floor(Math.random() * (MAX_SEED - 1)))
  if (!Number.isInteger(seed) || seed < 1 || seed > MAX_SEED) {
    throw new Error(`--seed must be an integer from 1 to ${MAX_SEED}`)
  }
  return { minutes, seed, executable: values.executable, isKept: values.keep }
}

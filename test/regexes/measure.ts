/** Measures how many steps a regular expression takes for each character of the worst text found for it. */
import { type Attack, attackText, hasLoop, listAttacks } from './attacks.ts'
import { compileRegex } from './program.ts'
import { boundSteps } from './step-bound.ts'
import { StepCounter } from './steps.ts'

export type Measure = {
  /** On `attack`, where a search that takes too many is given up; or on any text. */
  stepsPerCharacter: number
  attack: Attack
  /** Whether the worst text of the given length takes more than MAX_STEPS. */
  isSlow: boolean
}

export const TEXT_LENGTH = 65_536
/** For a whole text: 200 for each of 64 KB, which takes V8 some 50 ms. */
const MAX_STEPS = 200 * TEXT_LENGTH

const NO_ATTACK: Attack = { prefix: '', pump: '', suffix: '' }
const SHORT = 28
const LONG = 112
const MEDIUM = 2_048
/** A search whose loops are shorter takes as many steps for each character of a longer text. */
const LONG_LOOP = 1_000
/** How many attacks are tried on, of those that grow most and of those that cost most. */
const FINALISTS = 2
/** Beyond, attacks are left out evenly: long unions, whose parts are measured alone, have more. */
const MAX_ATTACKS = 1_000
const MAX_ATTACKS_SHORT = 250
const MIN_ATTACKS = 50
/** What trying one attack costs grows with the sets of the regular expression. */
const MAX_TRIED_SETS = 15_000

/** `length`: of the longest text that the program searches with it. */
export function measureRegex(regex: RegExp, length = TEXT_LENGTH): Measure {
  const program = compileRegex(regex)
  const maxSteps = MAX_STEPS / length
  const bound = boundSteps(program.root)
  if (bound <= maxSteps) return { stepsPerCharacter: bound, attack: NO_ATTACK, isSlow: false }
  const counter = new StepCounter(program)
  const count = (attack: Attack, size: number) =>
    counter.search(attackText(attack, size), size * maxSteps).steps / size
  const isLong = hasLoop(program.root, LONG_LOOP)
  const rated = thinOut([...listAttacks(program)], program.sets.length, isLong).map((attack) => {
    const long = count(attack, LONG)
    return { attack, long, growth: isLong ? long / count(attack, SHORT) : 0 }
  })
  const finalists = new Set([
    ...rated.toSorted((a, b) => b.growth - a.growth).slice(0, isLong ? FINALISTS : 0),
    ...rated.toSorted((a, b) => b.long - a.long).slice(0, FINALISTS),
  ])
  const size = Math.min(MEDIUM, length)
  const measured = [...finalists].map(({ attack }) => ({ attack, steps: count(attack, size) }))
  const { attack, steps } = measured.toSorted((a, b) => b.steps - a.steps)[0]!
  const isFinal = !isLong || steps > maxSteps || size === length
  const stepsPerCharacter = isFinal ? steps : count(attack, length)
  return { stepsPerCharacter, attack, isSlow: stepsPerCharacter > maxSteps }
}

function thinOut(attacks: Attack[], sets: number, isLong: boolean): Attack[] {
  const most = isLong ? MAX_ATTACKS : MAX_ATTACKS_SHORT
  const max = Math.max(MIN_ATTACKS, Math.min(most, MAX_TRIED_SETS / sets))
  // Odd, so that each suffix stays.
  const stride = Math.floor(attacks.length / max / 2) * 2 + 1
  return attacks.filter((_, i) => i % stride === 0)
}

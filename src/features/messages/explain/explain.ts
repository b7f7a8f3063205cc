/**
 * Why an email is where it is, in a sentence for people: what it waits for, how far it has come, or
 * what became of it. Pure: whoever asks brings the facts (`explanations.ts`).
 *
 * Of what waits the first of these is said:
 *
 * | what holds it up                              | until                                    |
 * |-----------------------------------------------|------------------------------------------|
 * | an operator's hold of its recipient domain    | it is released                           |
 * | no server is running                          | one is started                           |
 * | the back-off or the lowered rate of its site  | its end, or an operator lifts it         |
 * | its own retry schedule                        | the next attempt; why the last one failed |
 * | the rate of its project                       | its turn                                 |
 * | a site, server or project with its hands full | there is room                            |
 * | nothing                                       | it is due now                            |
 *
 * Remote servers' words stand in the sentence as they were kept, on one line and bounded: whoever
 * shows them escapes what the medium obeys.
 */

import { explainEnd } from './explain-end.ts'
import { explainHeld, explainSending, explainWaiting } from './explain-waiting.ts'
import type { Explanation, Facts } from './facts.ts'

export function explainEmail(facts: Facts): Explanation {
  switch (facts.email.state) {
    case 'queued':
    case 'deferred':
      return explainWaiting(facts)
    case 'held':
      return { ...explainHeld(facts), nextAttemptAt: null }
    case 'sending':
      return explainSending(facts)
    default:
      return { ...explainEnd(facts), nextAttemptAt: null }
  }
}

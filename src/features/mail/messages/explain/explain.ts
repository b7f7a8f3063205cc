/**
 * Explains the state of an email in a sentence: its reason to wait, the step of its attempt, or its
 * outcome. Pure: the caller collects the facts (`explain-emails.ts`).
 *
 * For waiting mail, the sentence names the first of these reasons:
 *
 * | reason                                        | until                                    |
 * |-----------------------------------------------|------------------------------------------|
 * | its database was brought back from a copy     | its project is released                  |
 * | an operator's hold of its recipient domain    | it is released                           |
 * | its project is disabled for its reputation    | it is enabled, at most 72 hours          |
 * | its campaign is paused                        | it is resumed                            |
 * | the pace of its campaign                      | its slot                                 |
 * | no server is running                          | one is started                           |
 * | the back-off or the lowered rate of its site  | its end, or an operator lifts it         |
 * | its own retry schedule                        | the next attempt (with the last failure) |
 * | the rate of its project                       | the rate allows it                       |
 * | a site, server or project at its limit        | there is capacity                        |
 * | nothing                                       | it is due now                            |
 *
 * The sentence quotes replies of remote servers as they are stored, on one line and shortened; the
 * caller escapes them for its medium.
 */
import { explainEnd } from './explain-end.ts'
import { explainHeld, explainPaused, explainSending, explainWaiting } from './explain-waiting.ts'
import type { Explanation, Facts } from './facts.ts'

export function explainEmail(facts: Facts): Explanation {
  switch (facts.email.state) {
    case 'queued':
    case 'deferred':
      return explainWaiting(facts)
    case 'held':
      return { ...explainHeld(facts), nextAttemptAt: null }
    case 'paused':
      return { ...explainPaused(facts), nextAttemptAt: null }
    case 'sending':
      return explainSending(facts)
    default:
      return { ...explainEnd(facts), nextAttemptAt: null }
  }
}

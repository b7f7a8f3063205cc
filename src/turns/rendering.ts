/** Requests that render: they wait for memory (`http/exchange/answer-allowance.ts`), then for a composing thread. */
import type { WaitingLimits } from './turns.ts'

export const RENDERING_LIMITS: WaitingLimits = {
  waitingPerProject: 10,
  waiting: 100,
  to: 'to be rendered',
  retryAfterSeconds: 2,
}

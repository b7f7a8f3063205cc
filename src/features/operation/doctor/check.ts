/** A check of the server: reads and asks, changes nothing, and never throws for what others do. */
import type { DoctorDeps } from './deps.ts'
import type { DoctorFacts } from './facts.ts'
import type { CheckId, CheckOutcome } from './outcome.ts'

/** `facts`: what several checks of one run need, found out once. */
export type CheckContext = DoctorDeps & { facts: DoctorFacts }

export type Check = {
  id: CheckId
  run(context: CheckContext): Promise<CheckOutcome>
}

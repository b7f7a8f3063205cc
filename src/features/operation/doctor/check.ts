/** A check of the server: reads and asks, changes nothing, and never throws for what others do. */
import type { DoctorDeps } from './deps.ts'
import type { Facts } from './facts.ts'
import type { CheckId, Outcome } from './outcome.ts'

/** `facts`: what several checks of one run need, found out once. */
export type CheckContext = DoctorDeps & { facts: Facts }

export type Check = {
  id: CheckId
  run(context: CheckContext): Promise<Outcome>
}

/**
 * Where planned requests of clients wait for their transaction. Those that wait at the same time are accepted
 * together (`accept-together.ts`); heavy ones and those with chunks have a transaction of their own.
 */
import type { Store } from '../../../store/store.ts'
import { createGatherer, type Gatherer } from '../../../store/write/gatherer.ts'
import { acceptEmails, isHeavy, weighPlan } from './accept-emails.ts'
import { acceptTogether, canJoin } from './accept-together.ts'
import type { AcceptDeps, AcceptedEmail } from './email-drafts.ts'
import type { EmailPlan } from './plan.ts'

/**
 * Resolves when the emails are durable.
 * @throws AppError as `acceptEmails`, and errors of `finish`
 */
export type AcceptQueue = Gatherer<EmailPlan, AcceptedEmail[]>

export function createAcceptQueue(
  deps: AcceptDeps & { store: Pick<Store, 'write' | 'recountCallers'> },
): AcceptQueue {
  const { store } = deps
  const gather = createGatherer<EmailPlan, AcceptedEmail[]>(store, {
    together: (tx, plans) => acceptTogether(deps, tx, plans),
    alone: (tx, plan) => acceptEmails(deps, tx, plan),
    weigh: weighPlan,
  })
  return (plan, finish) => {
    const heavyFor = isHeavy(plan) ? plan.project.id : undefined
    if (heavyFor === undefined && canJoin(plan)) return gather(plan, finish)
    return store.write(async (tx) => finish(tx, await acceptEmails(deps, tx, plan)), { heavyFor })
  }
}

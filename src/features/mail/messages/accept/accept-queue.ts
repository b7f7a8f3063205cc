/**
 * Where planned requests of clients wait for their transaction. Those that wait at the same time are accepted
 * together (`accept-together.ts`); heavy ones and those with chunks have a transaction of their own.
 */
import type { Store } from '../../../../store/store.ts'
import { createGatherer, type Gatherer } from '../../../../store/write/gatherer.ts'
import { acceptEmails, weighPlan } from './accept-emails.ts'
import { acceptTogether, canJoin } from './accept-together.ts'
import type { AcceptDeps, AcceptedEmail } from './email-drafts.ts'
import type { EmailPlan } from './plan.ts'

/**
 * Writes the emails of a plan, and what `finish` writes for them. Resolves when they are durable.
 * @throws AppError as `acceptEmails`, and errors of `finish`
 */
export type AcceptQueue = Gatherer<EmailPlan, AcceptedEmail[]>

type Weighed = { plan: EmailPlan; weight: number }

export function createAcceptQueue(
  deps: AcceptDeps & { store: Pick<Store, 'write' | 'recountCallers'> },
): AcceptQueue {
  const { store } = deps
  const gather = createGatherer<Weighed, AcceptedEmail[]>(store, {
    together: (tx, items) =>
      acceptTogether(
        deps,
        tx,
        items.map(({ plan }) => plan),
      ),
    alone: (tx, { plan }) => acceptEmails(deps, tx, plan),
    weigh: ({ weight }) => weight,
  })
  return (plan, finish) => {
    const { isHeavy, weight } = weighPlan(plan)
    if (!isHeavy && canJoin(plan)) return gather({ plan, weight }, finish)
    const heavyFor = isHeavy ? plan.project.id : undefined
    return store.write(async (tx) => finish(tx, await acceptEmails(deps, tx, plan)), { heavyFor })
  }
}

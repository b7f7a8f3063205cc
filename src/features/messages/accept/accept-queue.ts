/**
 * Where planned requests of clients wait for their transaction. Those that wait at the same time are accepted
 * together (`accept-together.ts`); heavy ones and those with chunks have a transaction of their own.
 */
import type { Store } from '../../../store/store.ts'
import { ALONE, type Alone, createGatherer } from '../../../store/write/gatherer.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { acceptEmails, isHeavy } from './accept-emails.ts'
import { acceptTogether, canJoin } from './accept-together.ts'
import type { AcceptDeps, AcceptedEmail } from './email-drafts.ts'
import type { EmailPlan } from './plan.ts'

export type PlannedRequest<Result> = {
  plan: EmailPlan
  /** Runs in the transaction, after the emails are written. */
  finish(tx: Tx, emails: AcceptedEmail[]): Promise<Result>
}

export type AcceptQueue = {
  /**
   * Resolves when the emails are durable.
   * @throws AppError as `acceptEmails`, and errors of `finish`
   */
  accept<Result>(request: PlannedRequest<Result>): Promise<Result>
}

export function createAcceptQueue(deps: AcceptDeps & { store: Pick<Store, 'write'> }): AcceptQueue {
  const { store } = deps
  const gather = createGatherer<PlannedRequest<unknown>, unknown>(store, {
    async together(tx, requests) {
      const plans = requests.map(({ plan }) => plan)
      const accepted = await acceptTogether(deps, tx, plans)
      const results: unknown[] = []
      for (const [index, request] of requests.entries()) {
        results.push(await finishOne(tx, request, accepted[index] ?? ALONE))
      }
      return results
    },
    alone: (tx, request) => acceptOne(tx, request),
  })

  async function acceptOne<Result>(tx: Tx, { plan, finish }: PlannedRequest<Result>) {
    return finish(tx, await acceptEmails(deps, tx, plan))
  }

  return {
    async accept<Result>(request: PlannedRequest<Result>) {
      const { plan } = request
      const heavyFor = isHeavy(plan) ? plan.project.id : undefined
      if (heavyFor === undefined && canJoin(plan)) return (await gather(request)) as Result
      return store.write((tx) => acceptOne(tx, request), { heavyFor })
    },
  }
}

async function finishOne(
  tx: Tx,
  { finish }: PlannedRequest<unknown>,
  accepted: AcceptedEmail[] | Alone,
): Promise<unknown> {
  return accepted === ALONE ? ALONE : finish(tx, accepted)
}

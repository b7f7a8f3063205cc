/**
 * Brings the mail of projects in line with whether they may send (`mail-fate.ts`), in short
 * transactions: mail of a project that was disabled for its reputation is put aside, in state
 * `paused` and without a campaign; it is due again when the project is enabled, and fails after 72
 * hours. Mail of a project that was disabled for another reason, is being reset or was deleted
 * fails at once. The mail to move is found in the database, so a server that was killed goes on
 * where it stopped.
 *
 * Mail that comes into the queue later, such as what was being sent, is refused when it is claimed.
 */
import { MINUTE_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { RowOf } from '../../../../store/database.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type Loop, startLoop } from '../../../../work/loop.ts'
import { settleInPasses } from '../../../../work/settle.ts'
import { type SweepPace, sweep, sweepPages } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { endEmails } from '../outcome/end-emails.ts'
import { notifyReleased } from '../queue/aside.ts'
import type { QueueNotifier } from '../queue/notifier.ts'
import { DISABLED, fateOf, type MailFate, NOT_ENABLED_IN_TIME } from './mail-fate.ts'
import {
  findStanding,
  listAllParked,
  listDisabled,
  listEndingQueued,
  listOwnParked,
  listQueuedOfProjects,
  listReleasable,
  putAsideDisabled,
  releaseSome,
} from './waiting-rows.ts'

type SettleDeps = Pick<Base, 'store' | 'directory' | 'counters' | 'now' | 'log'> & {
  queueNotifier: QueueNotifier
}
type Disabled = RowOf<typeof listDisabled>
type Queued = RowOf<typeof listQueuedOfProjects>

/**
 * The disabled projects (as JSON) for which the queue was searched last, and the time of that
 * search on the monotonic clock.
 */
type Emptied = { projects: string; at: number }

const PACE: SweepPace = { first: 50, max: 1_000, batchMs: 8, rest: { times: 2 } }
/** The maximum number of rows that one pass over the queue returns. */
const PAGE = 20_000
const NEVER_EMPTIED: Emptied = { projects: '', at: Number.NEGATIVE_INFINITY }

/** Starts the loop that settles mail at the start, when the directory changes, and each minute. */
export function startSettlingDisabled(deps: SettleDeps): Loop {
  let emptied = NEVER_EMPTIED
  return startLoop({
    async run({ signal }) {
      emptied = await settleDisabled(deps, { signal, emptied })
    },
    onError(error) {
      const facts = { error: describeError(error) }
      deps.log.error(facts, 'the mail of disabled projects was not settled')
    },
    wakes: [deps.directory.onDrop],
    maxWaitMs: MINUTE_MS,
  })
}

/**
 * Returns when no mail is left to move. While the same projects are disabled, the queue is searched
 * again after a minute at the earliest; `emptied` is what the last call returned.
 */
export async function settleDisabled(
  deps: SettleDeps,
  { signal, emptied = NEVER_EMPTIED }: { signal?: AbortSignal; emptied?: Emptied } = {},
): Promise<Emptied> {
  for (const { projectId } of await deps.store.scan.list(listReleasable)) {
    await release(deps, projectId, signal)
  }
  const disabled = await deps.store.scan.list(listDisabled)
  const facts = disabled.map((each) => [each.id, each.disabledAt, fateOf(each, deps.now())])
  const projects = JSON.stringify(facts)
  const isKnown = projects === emptied.projects
  if (isKnown && performance.now() - emptied.at < MINUTE_MS) return emptied
  const at = performance.now()
  await emptyQueue(deps, disabled, signal)
  for (const project of disabled) await endParked(deps, project, signal)
  return signal?.aborted ? NEVER_EMPTIED : { projects, at }
}

async function release(
  deps: SettleDeps,
  projectId: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { queueNotifier, now } = deps
  const rules = { pace: PACE, heavyFor: projectId, signal, until: 'none' as const }
  await sweep(deps, rules, async (tx, limit) => {
    const released = await tx.list(releaseSome, { projectId, limit, at: now() })
    tx.afterCommit(() => notifyReleased(queueNotifier, released))
    return released.length
  })
}

/**
 * Moves the mail of disabled projects out of the queue, in passes: each finds the mail that the
 * pass before has left.
 */
async function emptyQueue(
  deps: SettleDeps,
  disabled: readonly Disabled[],
  signal: AbortSignal | undefined,
): Promise<void> {
  if (disabled.length === 0) return
  const projectIds = JSON.stringify(disabled.map(({ id }) => id))
  const list = async () => {
    const found = await deps.store.scan.list(listQueuedOfProjects, { projectIds, limit: PAGE })
    return [...Map.groupBy(found, ({ projectId }) => projectId)]
  }
  const move = ([projectId, rows]: [string, Queued[]]) =>
    sweepPages<Queued, number>(
      deps,
      { pace: PACE, heavyFor: projectId, signal },
      {
        from: 0,
        pages: [rows],
        change: async (tx, some, moved) => {
          const numbers = some.map(({ number }) => number)
          return moved + (await moveSome(deps, tx, { projectId, numbers }))
        },
      },
    )
  await settleInPasses({ list, move }, signal)
}

/**
 * Moves mail as the present state of its project says: the project may have been enabled since it
 * was listed.
 */
async function moveSome(
  deps: SettleDeps,
  tx: Tx,
  { projectId, numbers }: { projectId: string; numbers: readonly number[] },
): Promise<number> {
  const at = deps.now()
  const project = await tx.find(findStanding, { projectId })
  const fate = project === undefined ? 'failed' : fateOf(project, at)
  if (fate === 'sent') return 0
  const rows = { projectId, numbers: JSON.stringify(numbers) }
  let moved = 0
  if (fate !== 'failed') {
    moved = await tx.execute(putAsideDisabled, {
      ...rows,
      ofCampaigns: fate === 'over' ? 1 : 0,
      at,
    })
  }
  if (fate === 'held') return moved
  return moved + (await end(deps, tx, { waiting: await tx.list(listEndingQueued, rows), fate, at }))
}

async function endParked(
  deps: SettleDeps,
  { id: projectId }: Disabled,
  signal: AbortSignal | undefined,
): Promise<void> {
  const rules = { pace: PACE, heavyFor: projectId, signal, until: 'none' as const }
  await sweep(deps, rules, (tx, limit) => endSomeParked(deps, tx, { projectId, limit }))
}

async function endSomeParked(
  deps: SettleDeps,
  tx: Tx,
  { projectId, limit }: { projectId: string; limit: number },
): Promise<number> {
  const at = deps.now()
  const project = await tx.find(findStanding, { projectId })
  const fate = project === undefined ? 'failed' : fateOf(project, at)
  if (fate === 'sent' || fate === 'held') return 0
  const list = fate === 'over' ? listOwnParked : listAllParked
  return end(deps, tx, { waiting: await tx.list(list, { projectId, limit }), fate, at })
}

async function end(
  deps: SettleDeps,
  tx: Tx,
  { waiting, fate, at }: { waiting: RowOf<typeof listAllParked>[]; fate: MailFate; at: number },
): Promise<number> {
  const error = fate === 'over' ? NOT_ENABLED_IN_TIME : DISABLED
  const failed = { state: 'failed', error, reason: 'refused' } as const
  const endings = waiting.map((email) => ({ email, end: failed }))
  return endEmails(deps, tx, { endings, at })
}

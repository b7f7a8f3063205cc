/**
 * Puts the mail aside that waited when a fence was set, in state `paused`. Its give-up clock stands
 * meanwhile, and `messages/disabled/settle.ts` and `campaigns/settle-stopped.ts` make it due again
 * when the fence is gone. The mail to put aside is found in the database, so a server that was
 * killed goes on where it stopped.
 *
 * A fence is settled when no such mail is left: mail that is due from then on was accepted after
 * the fence, or a person made it due. Until then delivery puts aside the mail that it claims
 * (`delivery/prepare.ts`).
 */
import { MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { RowOf } from '../../../../store/database.ts'
import { type Loop, startLoop } from '../../../../work/loop.ts'
import { settleInPasses } from '../../../../work/settle.ts'
import { type SweepPace, sweepPages } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { findGeneration } from '../../../ground/fence/rows.ts'
import {
  findFencedSending,
  findUnsettled,
  listQueuedOfFence,
  putAsideFenced as putAsideRows,
  setSettled,
} from './waiting-rows.ts'

type Deps = Pick<Base, 'store' | 'directory' | 'now'>

const PACE: SweepPace = { first: 50, max: 1_000, batchMs: 8, rest: { times: 2 } }
/** The pace when no other writes wait, because no server runs. */
const PACE_ALONE: SweepPace = { rows: 2_000, rest: 'none' }
/** The maximum number of rows that one pass over the queue returns. */
const PAGE = 20_000

/**
 * Starts the loop that settles fences: at the start, when the directory changes, each minute, and
 * each second while mail from before a fence is being sent.
 */
export function startSettlingFenced(deps: Deps & Pick<Base, 'log'>): Loop {
  return startLoop({
    async run({ signal }) {
      const { isSending } = await settleFenced(deps, { signal })
      return isSending ? SECOND_MS : undefined
    },
    onError: (error) =>
      deps.log.error({ error: describeError(error) }, 'the mail that is held was not put aside'),
    wakes: [deps.directory.onDrop],
    maxWaitMs: MINUTE_MS,
  })
}

type SettleOptions = {
  signal?: AbortSignal | undefined
  /** Nothing else uses the database: no rest between two batches. */
  isAlone?: boolean
}

type Settled = {
  /** The number of emails that were put aside. */
  moved: number
  /** Whether emails from before the fence are being sent: a deferred one is due again. */
  isSending: boolean
}

export async function settleFenced(deps: Deps, options: SettleOptions = {}): Promise<Settled> {
  const { store } = deps
  if ((await store.read.find(findUnsettled)) === undefined) return { moved: 0, isSending: false }
  const generation = (await findGeneration(store.read))?.number ?? 0
  // The question comes before the queue is read: an email that is being sent now may be due again
  // by the time of the answer.
  const isSending = (await store.scan.find(findFencedSending)) !== undefined
  const list = async () => [await store.scan.list(listQueuedOfFence, { limit: PAGE })]
  const moved = await settleInPasses(
    { list, move: (page) => putAside(deps, page, options) },
    options.signal,
  )
  if (isSending || options.signal?.aborted) return { moved, isSending }
  await store.write(async (tx) => {
    await tx.execute(setSettled, { generation })
    tx.afterCommit(deps.directory.drop)
  })
  return { moved, isSending }
}

function putAside(
  deps: Deps,
  page: readonly RowOf<typeof listQueuedOfFence>[],
  { signal, isAlone = false }: SettleOptions,
): Promise<number> {
  return sweepPages<RowOf<typeof listQueuedOfFence>, number>(
    deps,
    { pace: isAlone ? PACE_ALONE : PACE, heavyFor: 'fence', signal },
    {
      from: 0,
      pages: [page],
      change: async (tx, rows, moved) => {
        const numbers = JSON.stringify(rows.map(({ number }) => number))
        return moved + (await tx.execute(putAsideRows, { numbers, at: deps.now() }))
      },
    },
  )
}

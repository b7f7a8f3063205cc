/**
 * The expansion of one campaign: reads its audience page by page, the next page while the current one
 * is written. It holds nothing that is not in the database: a lost expansion is opened again where the
 * stored position is.
 */

import type { Base } from '../../base.ts'
import { walkContacts } from '../../contacts/list/walk.ts'
import type { ActiveCampaign } from './active.ts'
import type { SendingPlan } from './plan.ts'
import { type StretchContact, type StretchDeps, writeStretch } from './stretch.ts'

const PAGE = 1_000
/** Writes of a stretch take about this long; the size of the next one follows the last one. */
const TRANSACTION_MS = 12
const FIRST_SIZE = 200
const MIN_SIZE = 20
/** Then the plan and the audience's condition are made anew. */
const MAX_AGE_MS = 10_000

export type Expansion = {
  /**
   * Writes up to `limit` emails. Returns their number, and whether the expansion is open: one that is
   * not has nothing more to do, or must be opened again.
   */
  advance(limit: number): Promise<{ inserted: number; isOpen: boolean }>
}

type Page = { contacts: StretchContact[]; isLast: boolean }
type ReadPage = { page: Page } | { error: unknown }

export function openExpansion(
  deps: StretchDeps & Pick<Base, 'store'>,
  plan: SendingPlan,
  { cursor, lastNumber }: ActiveCampaign,
): Expansion {
  const walk = walkContacts(deps, plan.scope, { size: PAGE, after: cursor })
  const openedAt = performance.now()
  let after = cursor
  let size = FIRST_SIZE
  let page: Page = { contacts: [], isLast: false }
  let next = readPage(walk, lastNumber)

  async function fill(): Promise<void> {
    if (page.contacts.length > 0 || page.isLast) return
    const read = await next
    if ('error' in read) throw read.error
    page = read.page
    if (!page.isLast) next = readPage(walk, lastNumber)
  }

  async function writeNext(limit: number): Promise<number | undefined> {
    const contacts = page.contacts.slice(0, Math.min(size, limit))
    const isLast = page.isLast && contacts.length === page.contacts.length
    const upTo = isLast ? lastNumber : (contacts.at(-1)?.number ?? after)
    const written = await writeStretch(deps, plan, { contacts, after, upTo, isLast })
    if (written === undefined) return undefined
    page.contacts.splice(0, contacts.length)
    after = upTo
    size = nextSize(contacts.length, written.tookMs)
    return isLast ? undefined : written.inserted
  }

  async function advance(limit: number) {
    await fill()
    let inserted = 0
    do {
      const written = await writeNext(limit - inserted)
      if (written === undefined) return { inserted, isOpen: false }
      inserted += written
    } while (page.contacts.length > 0 && inserted < limit)
    return { inserted, isOpen: performance.now() - openedAt < MAX_AGE_MS }
  }

  return { advance }
}

/** Never rejects: the page may be waited for later, or not at all. */
async function readPage(
  walk: AsyncGenerator<StretchContact[]>,
  lastNumber: number,
): Promise<ReadPage> {
  try {
    const { value, done } = await walk.next()
    if (done) return { page: { contacts: [], isLast: true } }
    const contacts = value.filter(({ number }) => number <= lastNumber)
    return { page: { contacts, isLast: contacts.length < value.length } }
  } catch (error) {
    return { error }
  }
}

function nextSize(count: number, tookMs: number): number {
  const fitting = Math.round((count * TRANSACTION_MS) / Math.max(tookMs, 0.5))
  return Math.min(PAGE, Math.max(MIN_SIZE, fitting))
}

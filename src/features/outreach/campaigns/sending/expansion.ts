/**
 * The expansion of one campaign: writes the pages of its audience in stretches, and reads the next page while the
 * current one is written. All state is in the database: after a failure, and when the reading is old, it is opened
 * again at the stored position.
 */
import type { NamesKey } from '../../../../formats/template/named-keys.ts'
import type { Base } from '../../../ground/base.ts'
import type { RecipientRow } from '../../../people/contacts/list/row.ts'
import { type WalkedRows, walkCampaignContacts } from '../../../people/contacts/list/walk.ts'
import { pauseInTx } from '../stopping.ts'
import type { ActiveCampaign } from './active.ts'
import { planSending, type SendingPlan } from './plan.ts'
import {
  mayGetCampaign,
  type StretchContact,
  type StretchDeps,
  toStretchContact,
  writeStretch,
} from './stretch.ts'

/**
 * The aim for the time of a stretch's transaction. The size of the next stretch follows from the
 * time of the last one.
 */
const TRANSACTION_MS = 12
/** The emails of the first stretch: few enough even if each contact has 64 KB of data. */
const FIRST_SIZE = 10
const MIN_SIZE = 5
const MAX_SIZE = 1_000
/**
 * After this time the plan and the condition of the audience are made again, and the contacts are
 * read again.
 */
const MAX_AGE_MS = 10_000

export type ExpansionDeps = StretchDeps & Pick<Base, 'directory' | 'campaignNotifier'>

export type Expansion = {
  /**
   * Writes up to `limit` emails to the next contacts. Contacts who get no email do not count.
   * Pauses a campaign that cannot go on.
   */
  advance(campaign: ActiveCampaign, limit: number): Promise<Pass>
}

type Pass = {
  /** The number of emails that were written. */
  inserted: number
  /** Whether the next contacts are still being read: `wake` is called when they are there. */
  isReading: boolean
  /** Whether the limit is used up and the next contact would get an email. */
  isFull: boolean
}

const EMPTY_PASS: Pass = { inserted: 0, isReading: false, isFull: false }

type ContactReading = {
  plan: SendingPlan
  pages: AudiencePages
  /** The rest of the page that is being written. */
  page: AudiencePage | undefined
  after: number
  openedAt: number
}

/** `wake`: called when the next contacts are there; `isStopping`: no further transaction begins. */
export function createExpansion(
  deps: ExpansionDeps,
  { wake, isStopping }: { wake: () => void; isStopping: () => boolean },
): Expansion {
  let size = FIRST_SIZE
  let isKept: NamesKey | undefined
  let reading: ContactReading | undefined

  async function open(campaign: ActiveCampaign): Promise<ContactReading | undefined> {
    const plan = await planSending(deps, campaign, isKept)
    if ('trouble' in plan) {
      await deps.store.write((tx) => pauseInTx(deps, tx, plan.campaign, { reason: plan.trouble }))
      return undefined
    }
    isKept = plan.isKept
    const { cursor: after, lastNumber } = campaign
    const pages = readAudience(deps, plan, { after, lastNumber, wake })
    return { plan, pages, page: undefined, after, openedAt: performance.now() }
  }

  /**
   * Writes a stretch. Returns undefined if the campaign does not send any more, or at another pace.
   */
  async function writeNext(
    from: ContactReading,
    page: AudiencePage,
    contacts: readonly StretchContact[],
  ): Promise<number | undefined> {
    const isWhole = contacts.length === page.contacts.length
    const upTo = isWhole ? page.upTo : (contacts.at(-1)?.number ?? from.after)
    const stretch = { contacts, after: from.after, upTo, isLast: page.isLast && isWhole }
    const written = await writeStretch(deps, from.plan, stretch)
    if (written === undefined) return undefined
    from.after = upTo
    from.page = isWhole ? undefined : { ...page, contacts: page.contacts.slice(contacts.length) }
    size = nextSize(contacts.length, written.tookMs) ?? size
    return written.inserted
  }

  async function writePage(from: ContactReading, limit: number): Promise<Pass> {
    let inserted = 0
    let isFull = false
    while (from.page !== undefined && !isFull && !isStopping()) {
      const { contacts } = from.page
      const fitting = takeFitting(from.plan, contacts.slice(0, size), limit - inserted)
      isFull = fitting.length === 0 && contacts.length > 0
      if (isFull) break
      const written = await writeNext(from, from.page, fitting)
      if (written === undefined) return { inserted, isReading: false, isFull }
      inserted += written
    }
    // `reading` is kept only if all went well. After a failure, and for an ended campaign, the next
    // reading begins at the stored position.
    if (ageOf(from.openedAt) < MAX_AGE_MS) reading = from
    return { inserted, isReading: false, isFull }
  }

  async function advance(campaign: ActiveCampaign, limit: number): Promise<Pass> {
    const from = reading ?? (await open(campaign))
    reading = undefined
    if (from === undefined) return EMPTY_PASS
    from.page ??= from.pages.take()
    if (from.page === undefined) {
      reading = from
      return { ...EMPTY_PASS, isReading: true }
    }
    if (ageOf(from.page.readAt) > MAX_AGE_MS) return EMPTY_PASS
    return writePage(from, limit)
  }

  return { advance }
}

/** Returns as many of the first contacts as contain at most `limit` who get the campaign. */
function takeFitting(
  plan: SendingPlan,
  contacts: readonly StretchContact[],
  limit: number,
): readonly StretchContact[] {
  let left = limit
  for (const [index, contact] of contacts.entries()) {
    if (!mayGetCampaign(plan, contact)) continue
    if (left <= 0) return contacts.slice(0, index)
    left -= 1
  }
  return contacts
}

function ageOf(instant: number): number {
  return performance.now() - instant
}

/** Returns the size of the next stretch; undefined if nothing was measured. */
function nextSize(count: number, tookMs: number): number | undefined {
  if (count === 0) return undefined
  const fitting = Math.round((count * TRANSACTION_MS) / Math.max(tookMs, 0.5))
  return Math.min(MAX_SIZE, Math.max(MIN_SIZE, fitting))
}

/** `upTo`: all contacts up to this number are in this page or an earlier one. */
type AudiencePage = {
  contacts: StretchContact[]
  upTo: number
  isLast: boolean
  /** When the page was read, by `performance.now()`. */
  readAt: number
}

type AudiencePages = {
  /**
   * Returns the next page; undefined until it has been read.
   * @throws the error with which reading the page failed
   */
  take(): AudiencePage | undefined
}

const PAGE = 1_000

/** `wake` is called when a page has been read. */
function readAudience(
  deps: Pick<Base, 'store'>,
  { scope, isForAll }: Pick<SendingPlan, 'scope' | 'isForAll'>,
  { after, lastNumber, wake }: { after: number; lastNumber: number; wake: () => void },
): AudiencePages {
  const walk = walkCampaignContacts(deps, scope, { size: PAGE, after, isForAll })
  let read: { page: AudiencePage } | { error: unknown } | undefined

  async function readNext(): Promise<void> {
    try {
      const { value } = await walk.next()
      read = { page: toPage(value ?? { rows: [], upTo: undefined }, lastNumber) }
    } catch (error) {
      read = { error }
    }
    wake()
  }

  void readNext()
  return {
    take() {
      if (read === undefined) return undefined
      if ('error' in read) throw read.error
      const { page } = read
      read = undefined
      if (!page.isLast) void readNext()
      return page
    },
  }
}

/** Leaves out contacts behind `lastNumber`: they did not exist when the campaign began. */
function toPage({ rows, upTo }: WalkedRows<RecipientRow>, lastNumber: number): AudiencePage {
  const isLast = upTo === undefined || upTo >= lastNumber
  const meant = isLast ? rows.filter(([number]) => number <= lastNumber) : rows
  return {
    contacts: meant.map(([number, id, , address, subscribed, data]) =>
      toStretchContact({ number, id, address, subscribed, data }),
    ),
    upTo: isLast ? lastNumber : upTo,
    isLast,
    readAt: performance.now(),
  }
}

/** The audience of a campaign, page by page, the next page while the current one is written. */
import type { Base } from '../../../ground/base.ts'
import type { RecipientRow } from '../../../people/contacts/list/row.ts'
import { type WalkedRows, walkRecipients } from '../../../people/contacts/list/walk.ts'
import type { SendingPlan } from './plan.ts'
import { type StretchContact, toContact } from './stretch.ts'

/** `upTo`: all contacts up to this number are in this page, in an earlier one or not meant. */
export type AudiencePage = {
  contacts: StretchContact[]
  upTo: number
  isLast: boolean
  /** Of `performance.now()`. */
  readAt: number
}

export type AudiencePages = {
  /** The next page; undefined until it has been read. @throws errors of its reading */
  take(): AudiencePage | undefined
}

const PAGE = 1_000

/** `wake` is called when a page has been read. */
export function readAudience(
  deps: Pick<Base, 'store'>,
  { scope, isForAll }: Pick<SendingPlan, 'scope' | 'isForAll'>,
  { after, lastNumber, wake }: { after: number; lastNumber: number; wake: () => void },
): AudiencePages {
  const walk = walkRecipients(deps, scope, { size: PAGE, after, isForAll })
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

/** Contacts behind `lastNumber` did not exist when the campaign began. */
function toPage({ rows, upTo }: WalkedRows<RecipientRow>, lastNumber: number): AudiencePage {
  const isLast = upTo === undefined || upTo >= lastNumber
  const meant = isLast ? rows.filter(([number]) => number <= lastNumber) : rows
  return {
    contacts: meant.map(([number, id, , address, subscribed, data]) =>
      toContact({ number, id, address, subscribed, data }),
    ),
    upTo: isLast ? lastNumber : upTo,
    isLast,
    readAt: performance.now(),
  }
}

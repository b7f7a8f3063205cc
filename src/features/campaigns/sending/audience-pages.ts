/** The audience of a campaign, page by page, the next page while the current one is written. */
import type { Base } from '../../base.ts'
import type { ContactScope } from '../../contacts/list/scope.ts'
import { type WalkedPage, walkPages } from '../../contacts/list/walk.ts'
import type { StretchContact } from './stretch.ts'

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
  scope: ContactScope,
  { after, lastNumber, wake }: { after: number; lastNumber: number; wake: () => void },
): AudiencePages {
  const walk = walkPages(deps, scope, { size: PAGE, after })
  let read: { page: AudiencePage } | { error: unknown } | undefined

  async function readNext(): Promise<void> {
    try {
      const { value } = await walk.next()
      read = { page: toPage(value ?? { contacts: [], upTo: undefined }, lastNumber) }
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
function toPage({ contacts, upTo }: WalkedPage, lastNumber: number): AudiencePage {
  const isLast = upTo === undefined || upTo >= lastNumber
  return {
    contacts: isLast ? contacts.filter(({ number }) => number <= lastNumber) : contacts,
    upTo: isLast ? lastNumber : upTo,
    isLast,
    readAt: performance.now(),
  }
}

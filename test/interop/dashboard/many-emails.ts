/** A list of emails of any length, answered in the browser: a test of rows needs no mail that was sent. */
import type { Page } from 'playwright-core'

const PAGE_ROWS = 100
/** Whole minutes apart, so that no two rows have the same instant. */
const NEWEST = Date.parse('2026-11-20T12:00:00Z')

const id = (at: number) =>
  `01a20692-8ac5-7368-b185-${String(at < 0 ? 9e11 - at : at).padStart(12, '0')}`

/** A page that tells which calls for emails it made. */
export type ManyEmails = {
  /** The cursor of each call for a page, `''` for a first one. */
  readonly cursors: readonly string[]
  /** The path of row `at`, below the project. */
  pathOf(at: number): string
  /** One more email, `Mail -1`, is the newest. */
  addNewest(): void
}

/** From now on, the project of the page has `count` emails, `Mail 0` being the newest; `pageRows` come at a time. */
export async function answerManyEmails(
  page: Page,
  count: number,
  pageRows = PAGE_ROWS,
): Promise<ManyEmails> {
  const cursors: string[] = []
  let added = 0
  await page.route(/\/emails\?/, async (route) => {
    if (route.request().resourceType() === 'document') return route.fallback()
    const { searchParams } = new URL(route.request().url())
    const cursor = searchParams.get('cursor') ?? ''
    cursors.push(cursor)
    const from = Number(cursor)
    // A list asks for its first page again and again: only the first answer is long.
    const isAgain = cursor === '' && cursors.filter((one) => one === '').length > 1
    const length = Math.min(isAgain ? PAGE_ROWS : pageRows, count - from)
    const hasMore = from + length < count
    await route.fulfill({
      json: {
        data: Array.from({ length }, (_, index) => emailAt(from + index - added)),
        total: cursor === '' ? count : 0,
        cursor: hasMore ? String(from + length) : null,
        hasMore,
      },
    })
  })
  return {
    cursors,
    pathOf: (at) => `/emails/${id(at)}`,
    addNewest: () => {
      added += 1
    },
  }
}

/** The states follow each other, so that any window of rows has all of them. */
function emailAt(at: number): object {
  const created = NEWEST - at * 60_000
  const instant = (ms: number) => new Date(created + ms).toISOString()
  const host = `mx${at % 7}.example.net`
  const nothing = { ...{ openedAt: null, clickedAt: null, bouncedAt: null, complainedAt: null } }
  const stages = [
    {
      ...{ status: 'DELIVERED', state: 'delivered', deliveredAt: instant(1_200) },
      ...{ reasonCode: 'delivered', reasonData: { host } },
    },
    {
      ...{ status: 'OPENED', state: 'delivered', deliveredAt: instant(900), opens: 2 },
      ...{ openedAt: instant(90_000), reasonCode: 'delivered', reasonData: { host } },
    },
    {
      ...{ status: 'PENDING', state: 'deferred', reasonCode: 'retry_scheduled' },
      reasonData: {
        nextAttemptAt: instant(1_800_000),
        domain: 'example.net',
        last: { class: 'greylist', host, reply: null, error: null, interrupted: false },
      },
    },
    {
      ...{ status: 'BOUNCED', state: 'bounced', bouncedAt: instant(2_000) },
      ...{ error: '550 5.1.1 no such mailbox', reasonCode: 'bounced' },
      reasonData: { reply: { code: 550, enhancedCode: '5.1.1', text: 'no such mailbox' } },
    },
  ]
  return {
    ...{ id: id(at), contactId: id(at), recipientAddress: `person${at}@example.net` },
    ...{ toName: null, subject: `Mail ${at}`, from: 'shop@example.test', fromName: 'Shop' },
    ...{ replyTo: null, messageId: `${at}@example.test`, type: 'TRANSACTIONAL' },
    ...{ sourceType: 'TRANSACTIONAL', templateId: null, campaignId: null, workflow: null },
    ...{ workflowExecutionId: null, workflowStepExecutionId: null, projectId: id(0) },
    ...{ sentAt: instant(500), deliveredAt: null, ...nothing, opens: 0, clicks: 0 },
    ...{ machineOpens: 0, machineClicks: 0, error: null, isTest: false, nextAttemptAt: null },
    ...{ createdAt: instant(0), updatedAt: instant(0), reason: 'In words', receiver: 'Other' },
    attempts: 1 + (at % 3),
    ...stages[at % stages.length],
  }
}

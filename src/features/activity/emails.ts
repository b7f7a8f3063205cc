/** The emails of a page of the feed, as people read them. */
import type { MessageContent, RenderSource } from '../../mail/message.ts'
import { inArray } from '../../store/drizzle.ts'
import { type Email, emails } from '../../store/schema.ts'
import type { Core } from '../core.ts'
import type { EventEmail } from '../events/email-data.ts'
import { type LoadedEmail, loadEmails, loadTexts, toRenderSource } from '../messages/source.ts'

export type FeedDeps = Pick<Core, 'store' | 'config' | 'keyring' | 'outbound'>

/** `subject` as the recipient read it; `body` is HTML, or a text; null once retention cleared it. */
export type ShownEmail = EventEmail &
  Pick<Email, 'replyTo' | 'toName' | 'error' | 'templateFaults'> & { body: string | null }

type Text = Pick<ShownEmail, 'subject' | 'body'>

const fateColumns = {
  id: emails.id,
  error: emails.error,
  templateFaults: emails.templateFaults,
  sentAt: emails.sentAt,
  deliveredAt: emails.deliveredAt,
  openedAt: emails.openedAt,
  clickedAt: emails.clickedAt,
  bouncedAt: emails.bouncedAt,
  complainedAt: emails.complainedAt,
}

/** By id; ids may repeat, and those that are gone are left out. */
export async function showEmails(
  deps: FeedDeps,
  repeatedIds: readonly string[],
): Promise<Map<string, ShownEmail>> {
  const ids = [...new Set(repeatedIds)]
  const loaded = await loadEmails(deps, ids)
  const texts = await findTexts(deps, loaded)
  const fates = await deps.store.read
    .select(fateColumns)
    .from(emails)
    .where(inArray(emails.id, ids))
    .all()
  const byId = new Map(loaded.map((email) => [email.id, email]))
  return new Map(
    fates.flatMap((fate) => {
      const email = byId.get(fate.id)
      if (email === undefined) return []
      const text = texts.get(fate.id) ?? { subject: email.subject, body: null }
      return [[fate.id, { ...email, ...fate, ...text }]]
    }),
  )
}

async function findTexts(
  deps: FeedDeps,
  loaded: readonly LoadedEmail[],
): Promise<Map<string, Text>> {
  // Without the snapshot, which retention clears, it would be shown as nobody got it.
  const whole = loaded.filter((email) => isInbound(email) || email.variables !== null)
  const contents = await loadTexts(
    deps,
    whole.map((email) => email.contentId),
  )
  const pairs = whole.flatMap((email) => {
    const content = contents.get(email.contentId)
    return content === undefined ? [] : [{ email, content }]
  })
  const sent = pairs.filter(({ email }) => !isInbound(email))
  const received = pairs.filter(({ email }) => isInbound(email))
  return new Map([...(await renderSent(deps, sent)), ...received.map(asItCame)])
}

type Pair = { email: LoadedEmail; content: MessageContent }

async function renderSent(deps: FeedDeps, pairs: readonly Pair[]): Promise<[string, Text][]> {
  const sources: RenderSource[] = pairs.map(({ email, content }) => {
    const project = { name: email.projectName, language: email.language }
    return toRenderSource(deps, { email, project, content })
  })
  const rendered = await deps.outbound.preview(sources)
  return pairs.flatMap(({ email }, index) => {
    const message = rendered[index]
    if (message === undefined || message === null) return []
    return [[email.id, { subject: message.subject, body: message.html ?? message.text ?? null }]]
  })
}

/** Others wrote it: nothing in it is a template of ours. */
function asItCame({ email, content }: Pair): [string, Text] {
  return [email.id, { subject: email.subject, body: content.body }]
}

function isInbound({ sourceType }: LoadedEmail): boolean {
  return sourceType === 'INBOUND'
}

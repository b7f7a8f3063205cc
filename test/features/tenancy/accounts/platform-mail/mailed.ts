/** The server's mail to its users, written as the jobs ask for it. */

import type { Core } from '../../../../../src/core/core.ts'
import { unsealSnapshot } from '../../../../../src/features/mail/messages/delivery/sealed-snapshots.ts'
import {
  loadEmails,
  loadTexts,
  toSource,
} from '../../../../../src/features/mail/messages/delivery/source.ts'
import { PLATFORM_MAIL_KIND } from '../../../../../src/features/tenancy/accounts/platform-mail/enqueue.ts'
import { sendPlatformMail } from '../../../../../src/features/tenancy/accounts/platform-mail/send.ts'
import { asc, eq } from '../../../../../src/store/drizzle.ts'
import { type Email, emails } from '../../../../../src/store/schema/messages.ts'
import { claimJobs, completeJob } from '../../../../../src/work/jobs/job-row.ts'

type Mailed = {
  email: Email
  subject: string
  text: string
  html: string
  link: string
  locale: string
}

/** Runs the jobs that wait, and ends them unless `isEnded` is false. Returns how many there were. */
export async function writeMail(core: Core, { isEnded = true } = {}): Promise<number> {
  const now = core.now()
  const claimed = await core.store.write((tx) =>
    claimJobs(tx, { kinds: [PLATFORM_MAIL_KIND], limit: 100, now, leaseUntil: now + 60_000 }),
  )
  for (const job of claimed) {
    await sendPlatformMail(core, { ...job, signal: new AbortController().signal })
    if (isEnded) await core.store.write((tx) => completeJob(tx, job, { result: null, now }))
  }
  return claimed.length
}

/** The mail to an address that is not final, opened as a delivery opens it, oldest first. */
export async function mailTo(
  { store, keyring }: Pick<Core, 'store' | 'keyring'>,
  address: string,
): Promise<Mailed[]> {
  const rows = await store.read
    .select()
    .from(emails)
    .where(eq(emails.recipient, address))
    .orderBy(asc(emails.id))
  return rows.map((email) => {
    const { sealedVariables } = email
    const { subject, text, html, locale } = Object(
      sealedVariables !== null && unsealSnapshot({ keyring }, sealedVariables).snapshot.request,
    ) as Record<string, string>
    const link = /^https?:\S+$/m.exec(text ?? '')?.[0] ?? ''
    return {
      email,
      subject: subject ?? '',
      text: text ?? '',
      html: html ?? '',
      link,
      locale: locale ?? '',
    }
  })
}

/** The token at the end of the newest link to an address. */
export async function tokenTo(core: Core, address: string): Promise<string> {
  await writeMail(core)
  const newest = (await mailTo(core, address)).at(-1)
  return /[0-9a-f]{64}$/.exec(newest?.link ?? '')?.[0] ?? ''
}

/** The message that a delivery sends, with its quoted-printable decoded. */
export async function composed(core: Core, emailId: string): Promise<Buffer> {
  const [email] = await loadEmails(core, [emailId])
  const row = await core.store.read.select().from(emails).where(eq(emails.id, emailId)).get()
  const content = (await loadTexts(core, [email?.contentId ?? ''])).get(email?.contentId ?? '')
  if (email === undefined || row === undefined || content === undefined) {
    throw new TypeError('there is no such email')
  }
  const { projectName: name, language, postalAddress } = email
  const project = { name, language, postalAddress }
  const opened = { ...email, variables: unsealSnapshot(core, String(row.sealedVariables)).snapshot }
  const returnPath = { token: 'b.test', domain: 'bounce.test' }
  const source = toSource(core, { email: opened, project, content, returnPath })
  const octets = await core.outbound.sign({ source, keys: [] })
  const text = Buffer.from(octets ?? '').toString('latin1')
  return Buffer.from(text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='), 'latin1')
}

/** Submission over a real database, with a project that may send from example.test, and its clients. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, type TestContext } from 'node:test'
import { createTransport } from 'nodemailer'
import type { Options } from 'nodemailer/lib/mailer/index.js'
import type { SentMessageInfo } from 'nodemailer/lib/smtp-transport/index.js'
import { createRateLimiter } from '../../src/features/ground/requests/rate-limit.ts'
import type { MailService } from '../../src/inbound/service.ts'
import { type SubmissionOptions, startSubmission } from '../../src/inbound/submission.ts'
import { eq } from '../../src/store/drizzle.ts'
import { contents, type Email, emails } from '../../src/store/schema/messages.ts'
import { addProject, openTestCore, type TestCore, type TestProject, trustDomain } from '../core.ts'
import { type Certificate, makeCertificate } from '../fakes/certificate.ts'
import { connect, type Dialogue } from './dialogue.ts'

type Row = Email & { content: typeof contents.$inferSelect }

export type SubmissionServer = {
  core: TestCore
  project: TestProject
  service: MailService
  /** STARTTLS, implicit TLS. */
  ports: { plain: number; tls: number }
  files: { certFile: string; keyFile: string }
  /** Hands a message in over implicit TLS as a usual client does. */
  send(mail: Options, login?: Login): Promise<SentMessageInfo>
  /** What was accepted, with its content. */
  rows(): Promise<Row[]>
  /** A greeted session that has logged in, in clear. */
  dialogue(): Promise<Dialogue>
}

type Login = { user?: string; pass?: string; port?: number; secure?: boolean }

const certificate: Certificate = makeCertificate(['localhost'])

type Given = {
  settings?: Record<string, string>
  certificatePollMs?: number
  /** No certificate, and no listener that needs one. */
  isClear?: boolean
} & Partial<SubmissionOptions>

export async function openSubmission(
  t: Pick<TestContext, 'after'>,
  { settings, certificatePollMs = 3_000, isClear, ...options }: Given = {},
): Promise<SubmissionServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-submission-'))
  const files = { certFile: path.join(folder, 'cert.pem'), keyFile: path.join(folder, 'key.pem') }
  await writeFile(files.certFile, certificate.cert)
  await writeFile(files.keyFile, certificate.key)
  t.after(() => rm(folder, { recursive: true }))
  const core = await openTestCore(t, {
    certificatePollMs,
    settings: {
      ...(isClear
        ? { PILLARBOX_SUBMISSION__LISTEN: '["127.0.0.1:0"]' }
        : {
            PILLARBOX_SUBMISSION__LISTEN: '["127.0.0.1:0", "tls://127.0.0.1:0"]',
            PILLARBOX_SUBMISSION__TLS_CERT: files.certFile,
            PILLARBOX_SUBMISSION__TLS_KEY: files.keyFile,
          }),
      PILLARBOX_LIMITS__API_REQUESTS_PER_MINUTE: '0',
      ...settings,
    },
  })
  const project = await addProject(core)
  await trustDomain(core, project.id, 'example.test')
  const limit = core.config.limits.apiRequestsPerMinute
  const limiter = createRateLimiter(limit, core.now)
  const service = await startSubmission(core, { limiter, wait: async () => undefined, ...options })
  t.after(() => service.stop(0))
  const [plain = 0, tls = 0] = service.addresses.map(({ port }) => port)
  return {
    core,
    project,
    service,
    ports: { plain, tls },
    files,
    send: async (mail, { user = 'pillarbox', pass = project.secret, port, secure } = {}) => {
      const transport = createTransport({
        host: '127.0.0.1',
        port: port ?? tls,
        secure: secure ?? port === undefined,
        auth: { user, pass },
        tls: { rejectUnauthorized: false },
      })
      const sender = { from: 'shop@example.test', to: 'ada@dest.test', subject: 'Hello' }
      return transport.sendMail({ ...sender, ...mail })
    },
    rows: async () => {
      const found = await core.store.read
        .select()
        .from(emails)
        .innerJoin(contents, eq(contents.id, emails.contentId))
        .orderBy(emails.id)
        .all()
      return found.map((row) => ({ ...row.emails, content: row.contents }))
    },
    dialogue: async () => {
      const client = await connect(plain, { ehlo: 'client.test' })
      await client.say(`AUTH PLAIN ${plainLogin(project.secret)}`)
      return client
    },
  }
}

/**
 * One server for the tests of a describe that run one after another and leave it as it was. `rows` has what
 * was accepted since the call.
 */
export function shareSubmission(): () => Promise<SubmissionServer> {
  const stops: (() => unknown)[] = []
  let opened: Promise<SubmissionServer> | undefined
  after(async () => {
    for (const stop of stops.reverse()) await stop()
  })
  return async () => {
    opened ??= openSubmission({ after: (stop) => void stops.push(stop as () => unknown) })
    const { rows, ...server } = await opened
    const known = new Set((await rows()).map(({ id }) => id))
    return { ...server, rows: async () => (await rows()).filter(({ id }) => !known.has(id)) }
  }
}

export function plainLogin(password: string, user = 'pillarbox'): string {
  return Buffer.from(`\0${user}\0${password}`).toString('base64')
}

/**
 * A process that orders what is due and ends. Arguments: the data folder, its time in epoch ms, and where it kills
 * itself: `rename` or `renamed`, before or after the certificate is in its place. Its HTTP goes through the parent.
 */
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import path from 'node:path'
import { loadConfig } from '../../../src/config/load.ts'

export type ToParent =
  | { id: number; request: { method: string; url: string; body: string } }
  | { token: string; answer: string | undefined }
  | { done: true; fault: string | null }

const [folder = '', at = '', step = ''] = process.argv.slice(2)

// Before the code under test takes the function.
const { rename } = fs
fs.rename = async (from, to) => {
  const isCertificate = String(to).endsWith('certificate.pem')
  if (isCertificate && step === 'rename') process.kill(process.pid, 'SIGKILL')
  await rename(from, to)
  if (isCertificate && step === 'renamed') process.kill(process.pid, 'SIGKILL')
}
syncBuiltinESMExports()

const { createCertificates } = await import('../../../src/config/certificates/watch.ts')
const { createCounters } = await import('../../../src/base/counters.ts')
const { createChallenges } = await import('../../../src/features/operation/acme/challenges.ts')
const { startCertificateOrders } = await import(
  '../../../src/features/operation/acme/certificate-orders.ts'
)
const { createHealth } = await import('../../../src/base/health.ts')
const { silentLog } = await import('../../../src/base/log.ts')

const send = (message: ToParent) => void process.send?.(message)
const answers = new Map<number, (answer: never) => void>()
const challenges = createChallenges()

process.on('message', (message: { id: number; answer: never } | { token: string }) => {
  if ('token' in message) send({ ...message, answer: challenges.find(message.token) })
  else answers.get(message.id)?.(message.answer)
})

let lastId = 0

type Exchanged = { status: number; headers: Record<string, string>; text: string }

function exchange(request: { method: string; url: string; body: string }): Promise<Exchanged> {
  const id = ++lastId
  const { promise, resolve } = Promise.withResolvers<Exchanged>()
  answers.set(id, resolve)
  send({ id, request })
  return promise
}

const env = {
  PILLARBOX_DATA_DIR: folder,
  PILLARBOX_SECRET: 'the secret of the tests, long enough',
  PILLARBOX_ACME__EMAIL: 'ops@example.test',
  PILLARBOX_ACME__DOMAINS: '["mail.example.test"]',
  PILLARBOX_ACME__DIRECTORY_URL: 'https://acme.example.test/directory',
}
const config = loadConfig({ cwd: folder, systemFile: path.join(folder, 'none'), env })
const now = () => Number(at)
const health = createHealth()
const log = silentLog()
const certificates = createCertificates({ config, health, log, now }, 1e9)
const ordering = startCertificateOrders(
  {
    certificates,
    config,
    log,
    now,
    acmeChallenges: challenges,
    counters: createCounters(),
  } as never,
  {
    http: {
      request: async ({ url, method = 'GET', body = '' }) => {
        const { status, headers, text } = await exchange({
          method,
          url: url.href,
          body: String(body),
        })
        return { kind: 'response', url, status, headers, body: Buffer.from(text), isCut: false }
      },
    },
    wait: async () => undefined,
    random: () => 0.5,
  },
)
await ordering?.turn()
await ordering?.stop()
await certificates.look()
const reasons = health.reasons()
send({ done: true, fault: reasons.map(({ reason }) => reason).join(' ') || null })
process.disconnect()

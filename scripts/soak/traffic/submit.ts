/** SMTP submission. A connection that ends after the message was sent leaves its outcome unknown. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { countAnswer, type SendRecord } from '../history/history.ts'
import { makeRecipients } from './recipients.ts'
import type { Handler } from './traffic.ts'

type SmtpError = Error & { responseCode?: number; code?: string }

const PATIENCE_MS = 240_000
const PAUSE_MS = 200

export const submit: Handler = async ({ history, main, submissionPort }, operation) => {
  const { number } = operation
  const to = [...new Set(makeRecipients(operation, 1 + Math.floor(operation.lots[0] * 3)))]
  const record: SendRecord = {
    number,
    project: 'main',
    via: 'smtp',
    to,
    outcome: 'unknown',
    ids: [],
  }
  history.sends.push(record)
  const message = { from: 'shop@example.test', to, subject: `Soak ${number}`, html: '<p>Hi</p>' }
  for (const endsAt = Date.now() + PATIENCE_MS; Date.now() < endsAt; await sleep(PAUSE_MS)) {
    try {
      const { response } = await clientOf(submissionPort, main.secret).sendMail(message)
      countAnswer(history, 'submitted')
      record.outcome = 'acknowledged'
      record.ids = response.match(/[0-9a-f-]{36}/g) ?? []
      return
    } catch (error) {
      const { responseCode, code } = error as SmtpError
      if (responseCode !== undefined && responseCode >= 500) {
        const text = String(error)
        record.outcome = 'refused'
        history.surprises.push({ at: Date.now(), what: 'submit', status: responseCode, text })
        return
      }
      // Only a refusal, or no connection at all, says that the message was not taken.
      countAnswer(history, responseCode === undefined ? `submit ${code}` : 'submit 4yz')
      if (responseCode === undefined && code !== 'ESOCKET') return
      if (responseCode === undefined && !String(error).includes('ECONNREFUSED')) return
    }
  }
  record.outcome = 'refused'
}

function clientOf(port: number, pass: string) {
  const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 }
  return createTransport({
    ...{ host: '127.0.0.1', port, auth: { user: 'pillarbox', pass }, ...timeouts },
    ...{ ignoreTLS: true },
  })
}

/**
 * The process that attempts logins: at a fixed rate, whether or not earlier ones are answered, each from an
 * address and at an account of its own. Every second one has the right password. The message from the
 * parent describes the load; the process reports the answers.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../table.ts'

export type LoginLoad = {
  url: string
  perSecond: number
  seconds: number
  /** The number of the first account. */
  from: number
  password: string
}

export type LoginResult = {
  attempted: number
  /** From the first attempt to the last answer. */
  seconds: number
  opened: number
  /** With the wrong password. */
  refused: number
  /** 503 and 429. */
  turnedAway: number
  /** Any other answer, or none. */
  failed: number
  openedP50Ms: number
  openedP99Ms: number
  turnedAwayP99Ms: number
}

type Answer = { status: number; isOpened: boolean; ms: number }

export const accountOf = (number: number): string => `person${number}@example.org`
export const isRight = (number: number): boolean => number % 2 === 0

if (process.send !== undefined) {
  process.once('message', async (message) => {
    process.send?.(await run(message as LoginLoad))
  })
}

async function run(load: LoginLoad): Promise<LoginResult> {
  const agent = new Agent({ keepAlive: true })
  const total = load.perSecond * load.seconds
  const startedAt = performance.now()
  const answers: Promise<Answer>[] = []
  while (answers.length < total) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * load.perSecond) + 1
    while (answers.length < Math.min(due, total)) {
      answers.push(attempt(load, agent, load.from + answers.length))
    }
    await sleep(1)
  }
  const all = await Promise.all(answers)
  agent.destroy()
  return summarize(all, (performance.now() - startedAt) / 1_000)
}

function attempt({ url, password }: LoginLoad, agent: Agent, number: number): Promise<Answer> {
  const body = JSON.stringify({
    email: accountOf(number),
    password: isRight(number) ? password : 'the wrong password',
  })
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    'X-Forwarded-For': addressOf(number),
  }
  const startedAt = performance.now()
  return new Promise((resolve) => {
    const sent = request(`${url}/auth/login`, { method: 'POST', agent, headers }, (response) => {
      const isOpened = response.headers['set-cookie'] !== undefined
      response.resume().on('end', () => {
        const ms = performance.now() - startedAt
        resolve({ status: response.statusCode ?? 0, isOpened, ms })
      })
    })
    sent.on('error', () => resolve({ status: 0, isOpened: false, ms: 0 }))
    sent.end(body)
  })
}

function addressOf(number: number): string {
  return `100.${64 + ((number >> 16) & 63)}.${(number >> 8) & 255}.${number & 255}`
}

function summarize(answers: readonly Answer[], seconds: number): LoginResult {
  const opened = answers.filter(({ isOpened }) => isOpened).map(({ ms }) => ms)
  const away = answers.filter(({ status }) => [429, 503].includes(status)).map(({ ms }) => ms)
  const refused = answers.filter(({ status, isOpened }) => status === 200 && !isOpened).length
  return {
    attempted: answers.length,
    seconds,
    opened: opened.length,
    refused,
    turnedAway: away.length,
    failed: answers.length - opened.length - refused - away.length,
    openedP50Ms: percentile(opened, 0.5),
    openedP99Ms: percentile(opened, 0.99),
    turnedAwayP99Ms: percentile(away, 0.99),
  }
}

/**
 * Proves the packaged executable where nothing else is (`bare-root.ts`): it makes a project,
 * serves, takes a message over HTTP, delivers it to its sandbox with valid DKIM signatures, stops.
 *
 *   node scripts/smoke.ts [EXECUTABLE]
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { nodeVersion, outputFolder, targets } from '../build.config.ts'
import { makeBareRoot, type Place } from './bare-root.ts'

type DnsRecord = { type: string; name: string; value: string }
type Project = { secret: string; records: DnsRecord[] }

const deadlineMs = 20_000
const settings = `data_dir = 'state'
[http]
listen = '127.0.0.1:0'
[delivery]
mode = 'sandbox'
`

await smoke(path.resolve(process.argv[2] ?? builtHere()))

function builtHere(): string {
  const target = targets.find(({ name }) => name === `${process.platform}-${process.arch}`)
  return path.join(import.meta.dirname, '..', outputFolder, target?.output ?? '')
}

async function smoke(executable: string): Promise<void> {
  const place = makeBareRoot(executable, settings)
  console.log(place.description)
  try {
    checkVersion(place)
    await checkSending(place, makeProject(place))
    console.log('smoke test passed')
  } finally {
    place.remove()
  }
}

function checkVersion(place: Place): void {
  const rounds = Array.from({ length: 5 }, () => {
    const startedAt = performance.now()
    const { node } = JSON.parse(call(place, 'version', '--json').toString())
    assert.equal(node.replace(/^v/, ''), nodeVersion)
    return performance.now() - startedAt
  })
  console.log(`version: ${rounds.sort((a, b) => a - b)[2]?.toFixed(0)} ms (median of 5)`)
}

function makeProject(place: Place): Project {
  const json = (...argv: string[]) => JSON.parse(call(place, ...argv, '--json').toString())
  const owner = 'owner@example.test'
  json('user', 'create', '--email', owner)
  const { id, secret } = json('project', 'create', '--name', 'Smoke', '--owner', owner)
  json('domain', 'add', '--project', id, 'example.test')
  const { records } = json('domain', 'verify', 'example.test', '--trust')
  console.log('project made, its domain trusted')
  return { secret, records }
}

async function checkSending(place: Place, { secret, records }: Project): Promise<void> {
  const startedAt = performance.now()
  const server = serve(place)
  try {
    const url = await readyUrl(server)
    if (process.platform === 'linux') {
      assert.equal(readFileSync(`/proc/${server.pid}/comm`, 'utf8'), 'pillarbox\n')
    }
    console.log(`serve: ready at ${url} after ${(performance.now() - startedAt).toFixed(0)} ms`)
    await send(url, secret)
    await checkSignatures(await firstMessage(place), records)
    server.kill('SIGTERM')
    const [status] = await once(server, 'exit', { signal: AbortSignal.timeout(deadlineMs) })
    assert.equal(status, 0, 'serve ended with a failure')
    console.log('serve: stopped')
  } finally {
    server.kill('SIGKILL')
  }
}

async function readyUrl(server: ChildProcess): Promise<string> {
  assert.ok(server.stdout)
  const lines = createInterface({ input: server.stdout })
  const [line] = await once(lines, 'line', { signal: AbortSignal.timeout(deadlineMs) })
  const { event, http } = JSON.parse(line)
  assert.equal(event, 'ready')
  return http.startsWith('http') ? http : `http://${http}`
}

async function send(url: string, secret: string): Promise<void> {
  const response = await fetch(new URL('/v1/send', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      to: 'reader@example.net',
      from: 'hello@example.test',
      subject: 'Grüße from the smoke test',
      body: '<p>It runs.</p>',
    }),
  })
  assert.equal(response.status, 200, await response.text())
  console.log('POST /v1/send: 200')
}

async function firstMessage(place: Place): Promise<Buffer> {
  for (const giveUpAt = performance.now() + deadlineMs; performance.now() < giveUpAt; ) {
    const [message] = JSON.parse(call(place, 'sandbox', 'list', '--json').toString())
    if (message !== undefined) return call(place, 'sandbox', 'show', message.id)
    await delay(50)
  }
  throw new Error('nothing arrived in the sandbox')
}

/** `records` stand in for the DNS. */
async function checkSignatures(message: Buffer, records: DnsRecord[]): Promise<void> {
  const resolver = async (name: string, type: string): Promise<string[][]> => {
    const found = records.filter((record) => record.name === name && record.type === type)
    return found.map(({ value }) => [value])
  }
  const { results } = await dkimVerify(message, { resolver })
  assert.ok(results.length > 0, 'the message is not signed')
  for (const { algo, status } of results) {
    assert.equal(status.result, 'pass', status.comment)
    console.log(`DKIM ${algo}: pass`)
  }
}

function call({ command: [file = '', ...first], env }: Place, ...argv: string[]): Buffer {
  return execFileSync(file, [...first, ...argv], { env, cwd: '/', timeout: deadlineMs })
}

function serve({ command: [file = '', ...first], env }: Place): ChildProcess {
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  return spawn(file, [...first, 'serve'], { env, cwd: '/', stdio })
}

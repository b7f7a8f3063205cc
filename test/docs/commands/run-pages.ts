/**
 * Runs the command blocks of the README and of pages of the guide against a real sandbox server in a
 * temporary folder. The blocks of a page run in their order, and all share the folder; ids in variables such as
 * `$EMAIL_ID` come from the output of earlier blocks.
 */
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { commandHere, install, placeDatabase } from '../../e2e/server.ts'
import { type FakeDns, startDnsServer } from '../../fakes/dns-server.ts'
import { PATIENCE_MS } from '../../patience.ts'
import { programFile } from '../../program-file.ts'
import type { DocsPage } from '../pages.ts'
import { arrange, pagesBetween, README, reasonNotToRun, SHORTER, shellBlocks } from './blocks.ts'
import { type CommandServer, startCommandServer } from './command-server.ts'

/** Prints the code of an authenticator app, as `oathtool --totp --base32 SECRET` does. */
const OATHTOOL = path.join(import.meta.dirname, '../oathtool.ts')

const TOOLS = ['bash', 'curl']
const missing = TOOLS.filter((tool) => !isInstalled(tool))
const skip = missing.length > 0 && `${missing.join(', ')} not installed`

/** Of the receiver in the guide, which something else on this machine may have. */
const RECEIVER_PORT = '9099'

type Variables = Record<string, string>

/**
 * After the blocks of the README, whose ids the pages use, those of all pages in these letters of the
 * alphabet, both included. Commands of the pages run in this process; those of the README are
 * processes, as a reader's are, in the first range.
 */
export function describePages(from: string, to: string): void {
  describe(`command blocks of ${from} to ${to}`, { skip }, () =>
    runPages(pagesBetween(from, to), from === 'a' ? [README] : []),
  )
}

function runPages(chosen: readonly DocsPage[], asProcesses: readonly string[]): void {
  // Without the settings of this process, but with its cache of compiled code.
  const shared: Variables = { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '' }
  let folder = ''
  let url = ''
  let submission = ''
  let dns: FakeDns | undefined
  let commands: CommandServer | undefined
  let receiver = ''
  const paths = { processes: '', here: '' }
  const cleanups: Parameters<TestContext['after']>[0][] = []

  after(async (context) => {
    await commands?.stop()
    for (const clean of cleanups) await clean?.(context as TestContext, () => undefined)
    await dns?.stop()
  })

  before(async () => {
    dns = await startDnsServer()
    dns.set('example.org', { MX: [[10, 'mx.example.org']], A: ['192.0.2.1'] })
    const listeners = `[http]\nlisten = '127.0.0.1:0'\n[submission]\nlisten = ['127.0.0.1:0']\n`
    const settings = `${listeners}[dns]\nservers = ['${dns.address}']\n`
    const installation = await install({ after: (clean) => cleanups.push(clean) }, settings)
    folder = installation.folder
    await placeDatabase(installation)
    commands = await startCommandServer(folder)
    const start = `exec '${process.execPath}' '${programFile}' "$@"\n`
    paths.processes = makePrograms(path.join(folder, 'processes'), start)
    paths.here = makePrograms(path.join(folder, 'here'), commands.script)
    const serving = await installation.serve()
    url = serving.url
    submission = serving.submission[0] ?? ''
    receiver = String(await findPort())
    const welcome = serving.lines.join('\n')
    shared.PILLARBOX_KEY = /sk_[0-9a-f]+/.exec(welcome)?.[0] ?? ''
    await addGrace(url, shared.PILLARBOX_KEY)
    const [project] = (await commandHere(installation, 'project', 'list')) as { id: string }[]
    shared.PROJECT_ID = project?.id ?? ''
  })

  const { first, waiting, others } = arrange(chosen)
  describe('one after the other', { concurrency: false }, () => describeBlocks(first, shared))
  describe('beside each other', { concurrency: true }, () => {
    for (const some of [waiting, others]) {
      describe('in their order', { concurrency: false }, () => {
        const own: Variables = {}
        before(() => void Object.assign(own, shared))
        describeBlocks(some, own)
      })
    }
  })

  function describeBlocks(some: readonly DocsPage[], env: Variables): void {
    for (const page of some) {
      for (const { text } of shellBlocks(page)) {
        const reason = reasonNotToRun(text)
        const [first = ''] = text.split('\n')
        it(`${page.file}: ${first}`, { skip: reason ?? false }, async () => {
          const bin = asProcesses.includes(page.file) ? paths.processes : paths.here
          env.PATH = `${bin}${path.delimiter}${process.env.PATH}`
          learnIds(await runBlock(text, env), env)
          if (text.includes('/v1/send')) await untilDelivered(env)
        })
      }
    }
  }

  async function runBlock(text: string, env: Variables): Promise<string> {
    const here = text
      .replaceAll('http://127.0.0.1:8080', url)
      .replaceAll('127.0.0.1:1587', submission)
      .replaceAll(RECEIVER_PORT, receiver)
    const script = SHORTER.reduce((rest, [part, shorter]) => rest.replaceAll(part, shorter), here)
    // Answers with an error status count as failures; curl takes no other option for it beside -f.
    const fail =
      'case "$1" in -f*) command curl "$@" ;; *) command curl --fail-with-body "$@" ;; esac'
    // A reader's loop looks again after a second.
    const sleep = 'case "$1" in 1) command sleep 0.3 ;; *) command sleep "$1" ;; esac'
    const prelude = `set -euo pipefail\ncurl() { ${fail}; }\nsleep() { ${sleep}; }\n`
    const options = { cwd: folder, env, timeout: PATIENCE_MS, maxBuffer: 64 * 1024 * 1024 }
    return new Promise((resolve, reject) => {
      execFile('bash', ['--norc', '-c', prelude + script], options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout)
        else reject(new Error(`${stdout}\n${stderr}`, { cause: error }))
      })
    })
  }

  async function untilDelivered(env: Variables): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS
    const headers = { authorization: `Bearer ${env.PILLARBOX_KEY}` }
    const address = new URL(`/emails/${env.EMAIL_ID}`, url)
    while (Date.now() < deadline) {
      const response = await fetch(address, { headers })
      const { status } = (await response.json()) as { status: string }
      if (status === 'DELIVERED') return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.fail('the email was not delivered')
  }
}

function learnIds(output: string, env: Variables): void {
  const emailId = /"email":"([0-9a-f-]{36})"/.exec(output)?.[1]
  if (emailId !== undefined) env.EMAIL_ID = emailId
  // Variables that a block sets for those after it.
  for (const [, name = '', id] of output.matchAll(/([A-Z]+_ID)=(\S+)/g)) env[name] = id ?? ''
}

/**
 * Writes `pillarbox`, `oathtool`, and an `npm` that knows `npm run -s pillarbox -- …` only, into the
 * folder, and returns the folder. The lines `run` run the program with `"$@"`.
 */
function makePrograms(bin: string, run: string): string {
  mkdirSync(bin)
  const only = '[ "$1 $2 $3 $4" = "run -s pillarbox --" ] || exit 99\nshift 4\n'
  writeFileSync(path.join(bin, 'pillarbox'), `#!/bin/sh\n${run}`)
  writeFileSync(path.join(bin, 'npm'), `#!/bin/sh\n${only}${run}`)
  writeFileSync(
    path.join(bin, 'oathtool'),
    `#!/bin/sh\nexec '${process.execPath}' '${OATHTOOL}' "$@"\n`,
  )
  for (const name of ['pillarbox', 'npm', 'oathtool']) chmodSync(path.join(bin, name), 0o755)
  return bin
}

function isInstalled(tool: string): boolean {
  try {
    execFileSync(tool, ['--version'], { stdio: 'ignore' })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

/** A port that nothing has, below those that the system gives to connections and to port 0. */
async function findPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** The person who asks for her data on the page on privacy. */
async function addGrace(url: string, key: string): Promise<void> {
  const { status } = await fetch(`${url}/contacts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'grace@example.org', data: { name: 'Grace' } }),
  })
  assert.equal(status, 201)
}

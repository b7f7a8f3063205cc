/** The `Containerfile` of the guide agrees with the program, and its health check asks the running server. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import path from 'node:path'
import { it } from 'node:test'
import { defaultTarget, outputFolder, targets } from '../../build.config.ts'
import { COMMANDS } from '../../src/cli/commands.ts'
import { loadConfig, variableOf } from '../../src/config/load.ts'
import { settingKeys } from '../../src/config/settings.ts'
import { install, placeDatabase } from '../e2e/server.ts'
import { runAt } from '../fakes/terminal.ts'
import { programFile } from '../program-file.ts'
import { healthCommand, readContainerfile } from './containerfile.ts'

const instructions = readContainerfile()
const health = healthCommand(instructions)

function textOf(name: string): string {
  const found = instructions.filter((each) => each.name === name)
  assert.equal(found.length, 1, name)
  return found[0]?.text ?? ''
}

const variables = Object.fromEntries(
  textOf('ENV')
    .split(' ')
    .map((pair) => pair.split('=') as [string, string]),
)

const environment = (folder: string) => ({
  PILLARBOX_DATA_DIR: path.join(folder, 'data'),
  PATH: process.env.PATH,
})

/** How the health check ends beside the server of this folder. */
async function checkHealth(folder: string): Promise<{ status: number; stderr: string }> {
  const options = { cwd: folder, env: environment(folder) }
  const { status, err } = await runAt(options, ...health.slice(1))
  return { status, stderr: err }
}

/** The same in a process of its own, as the container has it. */
function runHealthCheck(folder: string): Promise<{ status: number; stderr: string }> {
  const args = [programFile, ...health.slice(1)]
  const options = { cwd: folder, env: environment(folder) }
  return new Promise((resolve) => {
    execFile(process.execPath, args, options, (error, _stdout, stderr) =>
      resolve({ status: Number(error?.code ?? 0), stderr }),
    )
  })
}

/** A busy machine may take longer than the check waits. A container is unhealthy after several failures, too. */
async function healthy(check: () => ReturnType<typeof checkHealth>) {
  for (let tries = 9; tries > 0; tries -= 1) {
    const found = await check()
    if (found.status === 0) return found
  }
  return check()
}

it('the paths of the Containerfile are those of the build and of the program', () => {
  assert.equal(instructions[0]?.name, 'FROM')
  const [from, to] = textOf('COPY').split(' ')
  const { output } = targets.find(({ name }) => name === defaultTarget) ?? {}
  assert.equal(from, `${outputFolder}/${output}`)
  const [program, ...rest] = JSON.parse(textOf('ENTRYPOINT'))
  assert.deepEqual([program, rest, health[0]], [to, [], to])
  const volume = textOf('VOLUME')
  assert.equal(variables.PILLARBOX_DATA_DIR, volume)
  const run = textOf('RUN')
  const [, uid, user] = /useradd .*--uid (\d+) .*?(\w+) &&/.exec(run) ?? []
  assert.ok(run.includes(`install -d -o ${user} -g ${user} -m 0700 ${volume}`), run)
  // By numbers, so that a cluster sees that it is not root.
  assert.equal(textOf('USER'), `${uid}:${uid}`)
  assert.equal(textOf('STOPSIGNAL'), 'SIGTERM')
})

it('its variables are settings, and the port that it exposes is the one of HTTP', () => {
  const known = settingKeys.map(variableOf)
  for (const name of Object.keys(variables)) assert.ok(known.includes(name), name)
  const options = { cwd: '/', systemFile: '/none', env: variables }
  const { http, dataDir } = loadConfig(options)
  assert.equal(String(http.listen.port), textOf('EXPOSE'))
  assert.deepEqual([http.listen.host, dataDir], ['0.0.0.0', textOf('VOLUME')])
})

it('its commands exist', () => {
  const names = COMMANDS.map(({ name }) => name)
  for (const argv of [JSON.parse(textOf('CMD')), health.slice(1)]) {
    assert.ok(names.includes(argv.join(' ')), argv.join(' '))
  }
})

it('the health check succeeds only while the server answers', async (t) => {
  const installation = await install(t, "[http]\nlisten = '127.0.0.1:0'\n")
  const { folder, serve } = installation
  await placeDatabase(installation)
  assert.equal((await checkHealth(folder)).status, 1, 'before the first start')
  const server = await serve()
  assert.deepEqual(await healthy(() => runHealthCheck(folder)), { status: 0, stderr: '' })
  // A server that hangs keeps its locks and its port.
  process.kill(server.pid, 'SIGSTOP')
  assert.equal((await checkHealth(folder)).status, 1)
  process.kill(server.pid, 'SIGCONT')
  assert.equal((await healthy(() => checkHealth(folder))).status, 0)
  assert.equal(await server.kill('SIGTERM'), 0)
  assert.equal((await runHealthCheck(folder)).status, 1)
})

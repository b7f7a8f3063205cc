/**
 * The server under the restrictions of its systemd unit: user, capabilities, read-only file system and
 * system-call filter, which `unit-sandbox.py` sets as systemd would. It tells a real `systemd-notify`
 * that it is ready, binds port 25 and delivers a message.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { installBesideSink, makeProject, post } from '../../e2e/server.ts'
import { runAt } from '../../fakes/terminal.ts'
import { findProgram } from './program.ts'

const NOBODY = 65534
const PLACE = '127.0.77.25:25'
const SANDBOX = path.join(import.meta.dirname, 'unit-sandbox.py')
const HEADER = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h'

/** Prints each datagram that arrives at the socket of its argument. */
const LISTENER = `
import os, socket, sys
server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
server.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
print("listening", flush=True)
while True:
    data, ancillary, _, _ = server.recvmsg(4096, 4096)
    text = data.decode()
    if ancillary:
        for _, _, received in ancillary:
            for at in range(0, len(received), 4):
                os.close(int.from_bytes(received[at:at + 4], sys.byteorder))
    print(text.replace("\\n", " "), flush=True)
`

const tools = ['systemd-analyze', 'systemd-notify', 'setpriv', 'unshare', 'python3']
const missing = tools.filter((tool) => spawnSync(tool, ['--version']).status !== 0)
const isRoot = process.getuid?.() === 0
const skip = !isRoot
  ? 'needs root'
  : process.arch !== 'x64' || !existsSync(HEADER)
    ? 'needs the numbers of system calls of x86-64 (linux-libc-dev)'
    : missing.length > 0 && `${missing.join(', ')} not installed`

test('the server works under the restrictions of its unit', { skip }, async (t) => {
  const { sink, installation } = await installBesideSink(t, {
    retrySchedule: '1s',
    configuration: `[inbound]\nlisten = ["${PLACE}"]\n`,
  })
  const { secret } = await makeProject(installation)
  const { folder } = installation
  const unit = path.join(folder, 'pillarbox.service')
  writeFileSync(unit, (await runAt({ cwd: folder }, 'systemd')).out)
  const socket = path.join(folder, 'notify')
  const systemd = spawn('python3', ['-c', LISTENER, socket], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => systemd.kill('SIGKILL'))
  const notices = createInterface({ input: systemd.stdout })
  const said: string[] = []
  const isReady = Promise.withResolvers<void>()
  const isListening = once(notices, 'line')
  await isListening
  notices.on('line', (line) => {
    said.push(line)
    if (line.includes('READY=1')) isReady.resolve()
  })
  execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, folder])
  const config = path.join(folder, 'pillarbox.toml')
  const argv = [
    SANDBOX,
    unit,
    String(NOBODY),
    folder,
    ...findProgram(),
    '--config',
    config,
    'serve',
  ]
  const server = spawn('python3', argv, {
    cwd: folder,
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', NOTIFY_SOCKET: socket },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => server.kill('SIGKILL'))
  const [line] = await once(createInterface({ input: server.stdout }), 'line')
  const ready = JSON.parse(line)
  assert.deepEqual(ready.inbound, [PLACE])
  const answer = await post(ready.http, secret, {
    ...{ to: 'ada@dest.test', from: 'shop@example.test', subject: 'Hello', body: '<p>Hello</p>' },
  })
  assert.equal(answer.status, 200)
  await sink.waitForMessages(1)
  const [host = '', port] = PLACE.split(':')
  assert.match(await greetingOf(host, Number(port)), /^220 mail\.example\.test /)
  await isReady.promise
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
  assert.ok(said.some((each) => each.includes('STATUS=serving http://')))
})

async function greetingOf(host: string, port: number): Promise<string> {
  const socket = connect(port, host)
  const [greeting] = await once(socket, 'data')
  socket.destroy()
  return String(greeting)
}

/** Root starts the server of another user: it becomes that user, and leaves no file of root. */
import assert from 'node:assert/strict'
import { chownSync, readFileSync, rmSync } from 'node:fs'
import { test } from 'node:test'
import { listForeign, makeServer, STRANGER, serveAs, skipOther } from './other-owner.ts'

const DIRECT = ['[delivery]', 'mode = "direct"', 'hostname = "mx.example.test"']
const RELAY = ['[delivery]', 'mode = "relay"', '[delivery.relay]', 'host = "127.0.0.1"']

const uidsOf = (pid: number | undefined) =>
  /^Uid:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]

for (const [mode, settings, places] of [
  ['sandbox', [], ['its own', "root's, empty", 'missing']],
  ['direct', DIRECT, ['its own', 'missing']],
  ['relay', RELAY, ['its own']],
] as const) {
  for (const found of places) {
    test(`serve of root in mode ${mode} becomes the owner of the files; data_dir: ${found}`, {
      skip: skipOther,
    }, async () => {
      const { data, home, file } = makeServer(settings)
      if (found === "root's, empty") chownSync(data, 0, 0)
      if (found === 'missing') rmSync(data, { recursive: true })
      let uids: string | undefined
      const look = ({ pid }: { pid?: number | undefined }) => {
        uids = uidsOf(pid)
      }
      const { status, err } = await serveAs({ cwd: home }, look, '--config', file)
      assert.deepEqual([status, uids], [0, Array(4).fill(STRANGER).join('\t')], err)
      assert.deepEqual(listForeign(data, STRANGER), [])
    })
  }
}

test('serve of root stays root where everything is of root', { skip: skipOther }, async () => {
  const { data, home, file } = makeServer([], 0)
  let uids: string | undefined
  const look = ({ pid }: { pid?: number | undefined }) => {
    uids = uidsOf(pid)
  }
  const { status, err } = await serveAs({ cwd: home }, look, '--config', file)
  assert.deepEqual([status, uids], [0, '0\t0\t0\t0'], err)
  assert.doesNotMatch(err, /chown/)
  assert.deepEqual(listForeign(data, 0), [])
})

/** Containers often let every user listen on every port. */
const skipPort = (() => {
  if (skipOther !== false) return skipOther
  const start = readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8')
  return Number(start) > 25 ? false : 'every user may listen on port 25 here'
})()

test('a port that the owner of the files may not use is refused with the way to it', {
  skip: skipPort,
}, async () => {
  const { home, file } = makeServer(['[inbound]', 'listen = ["127.0.0.1:25"]'])
  const none = () => assert.fail('it serves')
  const { status, err } = await serveAs({ cwd: home }, none, '--config', file)
  assert.equal(status, 1)
  assert.match(err, /the user nobody may not.*: systemctl start pillarbox\n$/)
})

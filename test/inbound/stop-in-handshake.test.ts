import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { connect as dial } from './dialogue.ts'
import { openSubmission } from './submission-server.ts'

test('a stop while a client leaves in its TLS handshake does not end the process', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { ports, service } = await openSubmission(t)
    const socket = connect(ports.tls, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
    await service.stop(0)
    const late = connect(ports.tls, '127.0.0.1')
    await assert.rejects(once(late, 'connect'), { code: 'ECONNREFUSED' })
  }
})

test('the same after STARTTLS', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const { ports, service } = await openSubmission(t)
    const client = await dial(ports.plain, { ehlo: 'client.test' })
    assert.equal((await client.say('STARTTLS')).code, 220)
    client.socket.destroy()
    await service.stop(0)
  }
})

/** Reads each message that it is sent, and answers with the lengths of its texts. */
import { createMessageReading } from '../../src/inbound/read-received.ts'

const read = createMessageReading({ dnsServers: ['127.0.0.1'], hostname: 'mx.pillarbox.test' })

process.on('message', async (raw: Uint8Array) => {
  const place = { reversePath: 'a@b.test', clientAddress: '127.0.0.1', clientName: 'b.test' }
  const { mail } = await read({ ...place, raw, isMail: true })
  process.send?.((mail?.text?.length ?? 0) + (mail?.html?.length ?? 0))
})

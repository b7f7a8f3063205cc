/** An SMTP client on a raw socket, that says what the test makes it say and reads replies. */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** Codes and texts, lines joined by LF. */
export type Reply = { code: number; text: string }

export type Dialogue = {
  socket: Socket
  /** Octets as they are. */
  write(data: string | Buffer): void
  /** The next reply; '' and 0 when the server has hung up. */
  read(): Promise<Reply>
  /** Sends a line and reads the reply. */
  say(line: string): Promise<Reply>
  /** MAIL, RCPT for each, DATA: the last reply of them. */
  open(from: string, ...to: string[]): Promise<Reply>
  /** Sends a message and its end: the reply. */
  data(message: string | Buffer): Promise<Reply>
  /** The same session over TLS, after a 220. */
  secure(): Promise<Dialogue>
  /** Resolves when the server has hung up, with what it said that nobody read. */
  ended(): Promise<string>
  close(): void
}

export type DialogueOptions = {
  /** How to introduce itself. */
  ehlo?: string
  /** Its address. */
  from?: string
  /** Keeps its end open when the server has closed the other. */
  stays?: boolean
}

/** Greeted; with `ehlo`, it has introduced itself too. */
export async function connect(
  port: number,
  { ehlo, from = '127.0.0.1', stays = false }: DialogueOptions = {},
): Promise<Dialogue> {
  const target = { port, host: '127.0.0.1', localAddress: from }
  const socket = connectTcp({ ...target, allowHalfOpen: stays })
  socket.setNoDelay(true)
  const dialogue = converse(socket)
  if (ehlo === undefined) return dialogue
  await dialogue.read()
  await dialogue.say(`EHLO ${ehlo}`)
  return dialogue
}

function converse(socket: Socket): Dialogue {
  let input = ''
  let isOver = false
  let wake: () => void = () => undefined
  const over = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isOver = true
      wake()
      resolve()
    })
  })
  socket.on('error', () => undefined)
  socket.on('data', (chunk: Buffer) => {
    input += chunk.toString('utf8')
    wake()
  })

  async function read(): Promise<Reply> {
    for (;;) {
      const [whole] = /^(?:\d{3}-.*\r\n)*\d{3}(?: .*)?\r\n/.exec(input) ?? []
      if (whole !== undefined) {
        input = input.slice(whole.length)
        const lines = whole.trimEnd().split('\r\n')
        return {
          code: Number(whole.slice(0, 3)),
          text: lines.map((line) => line.slice(4)).join('\n'),
        }
      }
      if (isOver) return { code: 0, text: '' }
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }

  const write = (data: string | Buffer) => void (socket.writable && socket.write(data))

  async function say(line: string): Promise<Reply> {
    write(`${line}\r\n`)
    return read()
  }

  async function secure(): Promise<Dialogue> {
    socket.removeAllListeners('data')
    const tls: TLSSocket = connectTls({ socket, rejectUnauthorized: false })
    return converse(tls)
  }

  return {
    socket,
    write,
    read,
    say,
    async open(from, ...to) {
      await say(`MAIL FROM:<${from}>`)
      for (const one of to) await say(`RCPT TO:<${one}>`)
      return say('DATA')
    },
    async data(message) {
      write(message)
      write('\r\n.\r\n')
      return read()
    },
    secure,
    async ended() {
      await over
      return input
    },
    close: () => socket.destroy(),
  }
}

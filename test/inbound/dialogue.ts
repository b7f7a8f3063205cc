/** An SMTP client on a raw socket: sends the lines of a test and reads replies. */
import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'

/** The code and the text of a reply, its lines joined by LF. */
type Reply = { code: number; text: string }

export type Dialogue = {
  socket: Socket
  /** Sends octets unchanged. */
  write(data: string | Buffer): void
  /** Returns the next reply; code 0 and text '' if the server has closed the connection. */
  read(): Promise<Reply>
  /** Sends a line and reads the reply. */
  say(line: string): Promise<Reply>
  /** Sends MAIL, a RCPT for each recipient, and DATA. Returns the last reply. */
  open(from: string, ...to: string[]): Promise<Reply>
  /** Sends a message and its end. Returns the reply. */
  data(message: string | Buffer): Promise<Reply>
  /** Starts TLS in this session, after a 220. */
  secure(): Promise<Dialogue>
  /** Resolves when the server has closed the connection, with the unread rest of its output. */
  ended(): Promise<string>
  close(): void
}

type DialogueOptions = {
  /** The name for EHLO. */
  ehlo?: string
  /** The client's own address. */
  from?: string
  /** Keeps its side open when the server has closed the other. */
  stays?: boolean
}

/** Connects and reads the greeting; with `ehlo` also sends EHLO. */
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

/**
 * Runs the commands of shell scripts in this process: a command costs a tenth of a process of its own.
 * A script in place of the program hands arguments and environment over, and prints the outcome.
 */
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { runAt } from '../../fakes/terminal.ts'

export type CommandServer = {
  /** Lines of `sh` that run the program with `"$@"`, here, without standard input. */
  script: string
  stop(): Promise<void>
}

/** Commands run in `folder`, where the socket is, too. */
export async function startCommandServer(folder: string): Promise<CommandServer> {
  const socket = path.join(folder, 'commands.sock')
  const server = createServer(async (request, response) => {
    try {
      response.end(await runRequest(folder, request))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  server.listen(socket)
  await once(server, 'listening')
  return {
    script: scriptFor(socket),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/** The form: `arg` for each argument, `env` as `env -0` prints it, and `output`, the folder of the output. */
async function runRequest(folder: string, request: IncomingMessage): Promise<string> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' }
  const form = await new Response(new Uint8Array(await buffer(request)), { headers }).formData()
  const env = Object.fromEntries(
    (await (form.get('env') as File).text())
      .split('\0')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )
  const { status, raw, err } = await runAt({ cwd: folder, env }, ...form.getAll('arg').map(String))
  const output = String(form.get('output'))
  await writeFile(path.join(output, 'out'), raw)
  await writeFile(path.join(output, 'err'), err)
  return String(status)
}

function scriptFor(socket: string): string {
  return `output=$(mktemp -d)
# Each argument becomes a field; the fields before \`output\` are the arguments as they were.
for arg in "$@" ; do set -- "$@" --form-string "arg=$arg" ; shift ; done
status=$(env -0 | command curl -sS --fail-with-body --unix-socket '${socket}' \\
  -F 'env=@-' "$@" --form-string "output=$output" http://commands/) || { echo "$status" >&2 ; exit 98 ; }
cat "$output/out"
cat "$output/err" >&2
rm -r "$output"
exit "$status"
`
}

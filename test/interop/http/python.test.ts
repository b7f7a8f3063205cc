/** Refusals of large bodies, as Python's own HTTP client hears them: it reads when all is sent. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { useService } from '../../http/service.ts'

const isInstalled = spawnSync('python3', ['--version']).status === 0

const program = `
import http.client, json, sys
port, path, key, size, chunked = sys.argv[1:6]
body = b' ' * int(size)
headers = {'Authorization': 'Bearer ' + key, 'Content-Type': 'multipart/form-data; boundary=x'}
for _ in range(5):
    connection = http.client.HTTPConnection('127.0.0.1', int(port), timeout=240)
    if chunked == 'true':
        connection.request('POST', path, body=iter([body]), headers=headers, encode_chunked=True)
    else:
        connection.request('POST', path, body=body, headers=headers)
    response = connection.getresponse()
    print(response.status, json.loads(response.read())['error']['code'])
    connection.close()
`

describe("Python's http.client", { skip: isInstalled ? false : 'python3 is not installed' }, () => {
  const { service, mine } = useService()

  for (const [name, path, sizeMb, isChunked, expected] of [
    ['55 MB of JSON', '/v1/send', 55, false, '413 PAYLOAD_TOO_LARGE'],
    ['55 MB of JSON in chunks', '/v1/send', 55, true, '413 PAYLOAD_TOO_LARGE'],
    ['an import of 20 MB', '/contacts/import', 20, false, '413 PAYLOAD_TOO_LARGE'],
    ['15 MB with an unknown key', '/v1/send', 15, false, '401 INVALID_API_KEY'],
    ['15 MB to no route', '/nowhere', 15, false, '404 RESOURCE_NOT_FOUND'],
  ] as const) {
    it(`receives the reason why ${name} are refused, each time`, async () => {
      const key = expected.startsWith('401') ? 'nonsense' : mine.secret
      const size = String(sizeMb * 1024 * 1024)
      const { port } = new URL(service.url)
      const argv = ['-c', program, port, path, key, size, String(isChunked)]
      const { stdout } = await promisify(execFile)('python3', argv)
      assert.deepEqual(stdout.trim().split('\n'), new Array(5).fill(expected))
    })
  }
})

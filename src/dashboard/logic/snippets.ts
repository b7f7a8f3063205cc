/** Programs that send a first mail, with the address of this server and a sender that it accepts. */
import { type FirstMail, jsonText, KEY_VARIABLE, shellWord, writeCurl } from './curl.ts'

export const SNIPPETS = ['curl', 'node', 'python', 'php', 'smtp'] as const
export type SnippetKind = (typeof SNIPPETS)[number]

/** `url`: the address of the API, without a slash at its end. `submission`: undefined where SMTP is off. */
export type SendingPlace = {
  url: string
  submission: { host: string; port: number; isTls: boolean } | undefined
}

/** @returns undefined for SMTP where the server takes none */
export function writeSnippet(
  kind: SnippetKind,
  place: SendingPlace,
  mail: FirstMail,
): string | undefined {
  return WRITERS[kind](place, mail)
}

const WRITERS: Readonly<
  Record<SnippetKind, (place: SendingPlace, mail: FirstMail) => string | undefined>
> = {
  curl: ({ url }, mail) => writeCurl(url, mail),
  node: (
    { url },
    { from, to, subject, body },
  ) => `const response = await fetch(${jsonText(`${url}/v1/send`)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${process.env.${KEY_VARIABLE}}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify({
    to: ${jsonText(to)},
    from: ${jsonText(from)},
    subject: ${jsonText(subject)},
    body: ${jsonText(body)},
  }),
})
console.log(response.status, await response.json())`,
  python: ({ url }, { from, to, subject, body }) => `import json, os, urllib.request

request = urllib.request.Request(
    ${jsonText(`${url}/v1/send`)},
    headers={
        "Authorization": "Bearer " + os.environ["${KEY_VARIABLE}"],
        "Content-Type": "application/json",
    },
    data=json.dumps({
        "to": ${jsonText(to)},
        "from": ${jsonText(from)},
        "subject": ${jsonText(subject)},
        "body": ${jsonText(body)},
    }).encode(),
)
print(urllib.request.urlopen(request).read().decode())`,
  php: ({ url }, { from, to, subject, body }) => `<?php
$request = curl_init(${single(`${url}/v1/send`)});
curl_setopt_array($request, [
    CURLOPT_RETURNTRANSFER => true,
    CURLOPT_HTTPHEADER => [
        'Authorization: Bearer ' . getenv('${KEY_VARIABLE}'),
        'Content-Type: application/json',
    ],
    CURLOPT_POSTFIELDS => json_encode([
        'to' => ${single(to)},
        'from' => ${single(from)},
        'subject' => ${single(subject)},
        'body' => ${single(body)},
    ]),
]);
echo curl_exec($request);`,
  smtp: ({ submission }, { from, to, subject, body }) => {
    if (submission === undefined) return undefined
    const { host, port, isTls } = submission
    return `printf '%s\\r\\n' ${shellWord(`From: ${from}`)} ${shellWord(`To: ${to}`)} ${shellWord(`Subject: ${subject}`)} \\
  'Content-Type: text/html' '' ${shellWord(body)} |
curl ${isTls ? 'smtps' : 'smtp'}://${host}:${port} --ssl-reqd \\
  --user "pillarbox:$${KEY_VARIABLE}" \\
  --mail-from ${shellWord(from)} --mail-rcpt ${shellWord(to)} --upload-file -`
  },
}

/** A string of PHP. */
function single(text: string): string {
  return `'${text.replace(/[\\']/g, (one) => `\\${one}`)}'`
}

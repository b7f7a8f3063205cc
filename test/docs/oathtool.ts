/** `oathtool --totp --base32 SECRET`: prints the code that an authenticator app shows now. */
import { TOTP } from 'otpauth'

const secret = process.argv.at(-1) ?? ''
process.stdout.write(`${new TOTP({ secret }).generate()}\n`)

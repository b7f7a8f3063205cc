export default function SignInDialog() {
  return null
}

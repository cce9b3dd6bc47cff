// A sandbox that is started without a key and a secret of its own takes this key and signs with this secret, so that an .env
// file keeps working. Both are public: they open nothing else, and a receiver with this secret in production accepts forgeries.
export const sandboxKey = 'service_test_sandbox_0000';
export const sandboxSecret = 'whsec_sandbox_00000000000000000000';

//! rslock as a peer. Arguments: rslock, host:port,host:port…, ttl in ms. The lines are those of peer_test.go.

use std::collections::HashMap;
use std::io::{self, BufRead, Write};
use std::time::Duration;

use rslock::{Lock, LockManager};

fn say(line: &str) {
    println!("{line}");
    io::stdout().flush().expect("stdout is open");
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let urls: Vec<String> = args[2].split(',').map(|a| format!("redis://{a}")).collect();
    let ttl = Duration::from_millis(args[3].parse().expect("ttl in ms"));
    let mut once = LockManager::new(urls.clone());
    once.set_retry(1, Duration::ZERO);
    let patient = LockManager::new(urls); // 3 tries, 0 to 200 ms apart
    let mut held: HashMap<String, Lock> = HashMap::new();
    say("ready");
    for line in io::stdin().lock().lines() {
        let line = line.expect("a line");
        let (verb, name) = line.split_once(' ').expect("verb and name");
        match verb {
            "try" => match once.lock(name.as_bytes(), ttl).await {
                Ok(lock) => {
                    held.insert(name.to_string(), lock);
                    say("ok");
                }
                Err(_) => say("refused"),
            },
            "lock" => loop {
                if let Ok(lock) = patient.lock(name.as_bytes(), ttl).await {
                    held.insert(name.to_string(), lock);
                    say("ok");
                    break;
                }
            },
            "unlock" => {
                let lock = held.remove(name).expect("a held lock");
                once.unlock(&lock).await;
                say("ok");
            }
            _ => say(&format!("error verb {verb}")),
        }
    }
}
